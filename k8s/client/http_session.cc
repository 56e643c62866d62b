// SPDX-License-Identifier: Apache-2.0
// The one place of this module that knows cpp-httplib: it writes requests and reads replies (heads,
// chunks, gzip) over a stream of ours, so that deadlines, cancelling and TLS are ours.
#include "k8s/client/http_session.h"

#include <fmt/core.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <exception>
#include <optional>

namespace firetower::k8s {
namespace {

constexpr int64_t kWriteTimeoutNs = 10 * kNsPerSecond;
constexpr int64_t kMaxRetryAfterSeconds = 3600;
// httplib matches the status line with std::regex, which recurses once a character.
constexpr size_t kMaxStatusLineBytes = 1024;

int64_t RetryAfterNs(const std::string& text) {
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) return 0;
  return std::min(seconds, kMaxRetryAfterSeconds) * kNsPerSecond;
}

// httplib's view of a ByteStream. It asks for single bytes of heads and chunk sizes, so reads are
// buffered here. The first error is kept: httplib only says that reading failed.
class Stream : public httplib::Stream {
 public:
  Stream(ByteStream& bytes, int64_t head_timeout_ns)
      : bytes_(bytes), head_timeout_ns_(head_timeout_ns) {}

  // Before each exchange; `sink` is asked for its patience once the head is through.
  void Begin(BodySink& sink) {
    sink_ = &sink;
    head_bytes_ = 0;
    status_line_ended_ = false;
    in_head_ = true;
    error_.reset();
  }
  void EndHead() { in_head_ = false; }
  bool answered() const { return head_bytes_ > 0; }
  const std::optional<Error>& error() const { return error_; }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* out, size_t size) override {
    if (begin_ == end_ && !Fill()) return error_ ? -1 : 0;
    const size_t n = std::min(size, end_ - begin_);
    if (in_head_ && !CountHead({buffer_.data() + begin_, n})) return -1;
    std::memcpy(out, buffer_.data() + begin_, n);
    begin_ += n;
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* data, size_t size) override {
    Status written = bytes_.Write({data, size}, kWriteTimeoutNs);
    if (!written) return Fail(std::move(written).error());
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  // Only looked at to refuse descriptors that select() cannot take; none is used here.
  socket_t socket() const override { return 0; }

 private:
  ssize_t Fail(Error error) {
    if (!error_) error_ = std::move(error);
    return -1;
  }

  // False at the end of the stream or after an error.
  bool Fill() {
    begin_ = end_ = 0;
    Result<size_t> n = bytes_.Read(buffer_.data(), buffer_.size(),
                                   in_head_ ? head_timeout_ns_ : sink_->idle_timeout_ns());
    if (!n) {
      Fail(std::move(n).error());
      return false;
    }
    end_ = *n;
    return *n > 0;
  }

  bool CountHead(std::string_view bytes) {
    head_bytes_ += bytes.size();
    status_line_ended_ |= bytes.find('\n') != std::string_view::npos;
    if (head_bytes_ <= kMaxHeadBytes && (status_line_ended_ || head_bytes_ <= kMaxStatusLineBytes))
      return true;
    Fail(Error(ErrorCode::kCorrupt, "the reply's head is too long"));
    return false;
  }

  ByteStream& bytes_;
  const int64_t head_timeout_ns_;
  BodySink* sink_ = nullptr;
  std::array<char, 16 << 10> buffer_;  // one TLS record
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t head_bytes_ = 0;
  bool status_line_ended_ = false;
  bool in_head_ = true;
  std::optional<Error> error_;
};

// Router that passes the body of one reply on.
class BodyRouter {
 public:
  BodyRouter(Stream& stream, BodySink& sink) : stream_(stream), sink_(sink) {}
  bool OnHead(const httplib::Response& response) {
    stream_.EndHead();
    reply_.status = response.status;
    reply_.retry_after_ns = RetryAfterNs(response.get_header_value("Retry-After"));
    if (reply_.ok()) sink_.OnHead();
    return true;
  }
  bool OnBody(const char* data, size_t size) {
    if (size == 0) return true;
    if (reply_.ok()) {
      unwanted_ = !sink_.OnBody({data, size});
      return !unwanted_;
    }
    reply_.refusal.append(data, std::min(size, kMaxRefusalBytes - reply_.refusal.size()));
    return reply_.refusal.size() < kMaxRefusalBytes;
  }
  ApiReply& reply() { return reply_; }
  bool unwanted() const { return unwanted_; }
  bool refused() const { return reply_.status != 0 && !reply_.ok(); }

 private:
  Stream& stream_;
  BodySink& sink_;
  ApiReply reply_;
  bool unwanted_ = false;
};

}  // namespace

// The stream and httplib's client over it, which is only asked to write and read on ours.
class HttpSession::Client : private httplib::ClientImpl {
 public:
  Client(const std::string& host, uint16_t port, std::unique_ptr<ByteStream> bytes,
         int64_t head_timeout_ns)
      : httplib::ClientImpl(host, port),
        bytes_(std::move(bytes)),
        stream_(*bytes_, head_timeout_ns) {
    set_url_encode(false);  // it is encoded already
  }

  bool reusable() const { return reusable_; }
  bool answered() const { return stream_.answered(); }
  std::string Header(std::string_view name) const {
    const auto found = headers_.find(std::string(name));
    return found == headers_.end() ? "" : found->second;
  }

  Result<ApiReply> Send(const ApiRequest& request, const HttpHeaders& headers, BodySink& sink) {
    reusable_ = false;
    headers_.clear();
    stream_.Begin(sink);
    BodyRouter router(stream_, sink);
    httplib::Request http;
    http.method = request.method;
    http.path = request.target;
    http.body = request.body;
    for (const auto& [name, value] : headers) http.set_header(name, value);
    if (!request.content_type.empty()) http.set_header("Content-Type", request.content_type);
    http.response_handler = [&](const httplib::Response& head) { return router.OnHead(head); };
    http.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
      return router.OnBody(data, size);
    };
    httplib::Response response;
    httplib::Error error = httplib::Error::Success;
    bool whole = false;
    try {
      whole = process_request(stream_, http, response, /*close_connection=*/false, error);
    } catch (const std::exception& thrown) {
      return Error(ErrorCode::kCorrupt, fmt::format("no HTTP that can be read: {}", thrown.what()));
    }
    // A refusal says enough, also when it was cut.
    if (!whole && !router.refused()) return WhyNot(router, error);
    if (router.reply().status == 0) router.OnHead(response);  // 204 has no body to announce
    reusable_ = whole && response.get_header_value("Connection") != "close";
    headers_ = std::move(response.headers);
    return std::move(router.reply());
  }

 private:
  Error WhyNot(const BodyRouter& router, httplib::Error error) const {
    if (router.unwanted()) return Error(ErrorCode::kExhausted, "the rest was not wanted");
    if (stream_.error()) return *stream_.error();
    if (!stream_.answered())
      return Error(ErrorCode::kUnavailable, "the server closed the connection without an answer");
    return Error(ErrorCode::kCorrupt,
                 fmt::format("the reply was cut or is no HTTP ({})", httplib::to_string(error)));
  }

  const std::unique_ptr<ByteStream> bytes_;
  Stream stream_;
  httplib::Headers headers_;  // names in any case
  bool reusable_ = false;
};

HttpSession::HttpSession(const std::string& host, uint16_t port, std::unique_ptr<ByteStream> stream,
                         int64_t head_timeout_ns)
    : client_(std::make_unique<Client>(host, port, std::move(stream), head_timeout_ns)) {}
HttpSession::~HttpSession() = default;

Result<ApiReply> HttpSession::Send(const ApiRequest& request, const HttpHeaders& headers,
                                   BodySink& sink) {
  return client_->Send(request, headers, sink);
}

bool HttpSession::reusable() const { return client_->reusable(); }
bool HttpSession::answered() const { return client_->answered(); }
std::string HttpSession::Header(std::string_view name) const { return client_->Header(name); }

}  // namespace firetower::k8s
