// SPDX-License-Identifier: Apache-2.0
// The one place of this module that knows cpp-httplib: it writes requests and reads replies (heads,
// chunks, gzip) over a stream of ours, so that deadlines, cancelling and TLS are ours.
#include "k8s/client/api_client.h"

#include <fmt/core.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <exception>
#include <optional>

#include "k8s/client/connection.h"

namespace firetower::k8s {
namespace {

constexpr int64_t kConnectTimeoutNs = 10 * kNsPerSecond;
constexpr int64_t kWriteTimeoutNs = 10 * kNsPerSecond;
// The API server ends a request that is no watch after a minute by itself (--request-timeout).
constexpr int64_t kHeadTimeoutNs = 70 * kNsPerSecond;
constexpr int64_t kMaxRetryAfterSeconds = 3600;
// httplib matches the status line with std::regex, which recurses once a character.
constexpr size_t kMaxStatusLineBytes = 1024;

int64_t RetryAfterNs(const std::string& text) {
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) return 0;
  return std::min(seconds, kMaxRetryAfterSeconds) * kNsPerSecond;
}

// httplib's view of a Connection. It asks for single bytes of heads and chunk sizes, so reads are
// buffered here. The first error is kept: httplib only says that reading failed.
class Stream : public httplib::Stream {
 public:
  explicit Stream(Connection& connection) : connection_(connection) {}

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
    Status written = connection_.Write({data, size}, kWriteTimeoutNs);
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
    Result<size_t> n = connection_.Read(buffer_.data(), buffer_.size(),
                                        in_head_ ? kHeadTimeoutNs : sink_->idle_timeout_ns());
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
    Fail(Error(ErrorCode::kCorrupt, "the reply's head is too long: is this an API server?"));
    return false;
  }

  Connection& connection_;
  BodySink* sink_ = nullptr;
  std::array<char, 16 << 10> buffer_;  // one TLS record
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t head_bytes_ = 0;
  bool status_line_ended_ = false;
  bool in_head_ = true;
  std::optional<Error> error_;
};

// Where the body of one reply goes.
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

// A connection and httplib's client over it, which is only asked to write and read on our stream.
class ApiClient::Session : private httplib::ClientImpl {
 public:
  Session(const ClientConfig& config, std::unique_ptr<Connection> connection)
      : httplib::ClientImpl(config.server.host, config.server.port),
        base_path_(config.server.base_path),
        connection_(std::move(connection)),
        stream_(*connection_) {
    set_url_encode(false);  // it is encoded already
  }

  // Whether the connection may carry another request.
  bool reusable() const { return reusable_; }
  // Whether the server sent any byte of the last reply.
  bool answered() const { return stream_.answered(); }

  Result<ApiReply> Send(const ApiRequest& request, const std::string& user_agent,
                        const std::string& bearer_token, BodySink& sink) {
    reusable_ = false;
    stream_.Begin(sink);
    BodyRouter router(stream_, sink);
    httplib::Request http = Translate(request, user_agent, bearer_token);
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
    return std::move(router.reply());
  }

 private:
  httplib::Request Translate(const ApiRequest& request, const std::string& user_agent,
                             const std::string& bearer_token) const {
    httplib::Request http;
    http.method = request.method;
    http.path = base_path_ + request.target;
    http.body = request.body;
    http.set_header("User-Agent", user_agent);
    http.set_header("Accept", "application/json");
    http.set_header("Accept-Encoding", "gzip");
    if (!bearer_token.empty()) http.set_header("Authorization", "Bearer " + bearer_token);
    if (!request.content_type.empty()) http.set_header("Content-Type", request.content_type);
    return http;
  }

  Error WhyNot(const BodyRouter& router, httplib::Error error) const {
    if (router.unwanted()) return Error(ErrorCode::kExhausted, "the rest was not wanted");
    if (stream_.error()) return *stream_.error();
    if (!stream_.answered())
      return Error(ErrorCode::kUnavailable, "the server closed the connection without an answer");
    return Error(ErrorCode::kCorrupt,
                 fmt::format("the reply was cut or is no HTTP ({})", httplib::to_string(error)));
  }

  const std::string base_path_;
  std::unique_ptr<Connection> connection_;
  Stream stream_;
  bool reusable_ = false;
};

ApiClient::ApiClient(ClientConfig config, std::string user_agent, const Clock& clock)
    : config_(std::move(config)),
      user_agent_(std::move(user_agent)),
      clock_(clock),
      credentials_(config_, clock, cancel_.fd()) {}

ApiClient::~ApiClient() = default;

void ApiClient::Cancel() noexcept { cancel_.Notify(); }

Result<bool> ApiClient::EnsureSession(const Identity& identity) {
  std::string ca_pem;
  if (config_.server.tls && !config_.insecure_skip_tls_verify) {
    Result<std::string> read = config_.ca.Read();
    // A bundle that is being replaced: the last one is as good as it was.
    if (!read && ca_pem_.empty()) return std::move(read).error().Context("certificate authority");
    ca_pem = read ? *std::move(read) : ca_pem_;
  }
  const bool same = ca_pem == ca_pem_ && identity.certificate_pem == identity_.certificate_pem &&
                    identity.key_pem == identity_.key_pem;
  const bool fresh = clock_.MonotonicNs() - used_ns_ < kMaxIdleNs;
  if (session_ != nullptr && session_->reusable() && same && fresh) return true;
  session_.reset();
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                   Connection::Open(config_, ca_pem, identity, cancel_, kConnectTimeoutNs));
  session_ = std::make_unique<Session>(config_, std::move(connection));
  ca_pem_ = std::move(ca_pem);
  identity_ = identity;
  return false;
}

Result<ApiReply> ApiClient::Exchange(const ApiRequest& request, const Identity& identity,
                                     BodySink& sink) {
  ASSIGN_OR_RETURN(const bool used_before, EnsureSession(identity));
  const auto send = [&] {
    Result<ApiReply> reply = session_->Send(request, user_agent_, identity.bearer_token, sink);
    used_ns_ = clock_.MonotonicNs();
    return reply;
  };
  Result<ApiReply> reply = send();
  // The server closes idle connections when it likes (RFC 9112 §9.3.1).
  if (reply || !used_before || session_->answered() || request.method != "GET") return reply;
  session_.reset();
  RETURN_IF_ERROR(EnsureSession(identity));
  return send();
}

Result<ApiReply> ApiClient::Send(const ApiRequest& request, BodySink& sink) {
  for (bool again = false;; again = true) {
    ASSIGN_OR_RETURN(const Identity identity, credentials_.Get());
    Result<ApiReply> reply = Exchange(request, identity, sink);
    if (!reply) return std::move(reply).error().Context(config_.ServerText());
    if (reply->status != 401 || again || !credentials_.Refused()) return reply;
  }
}

}  // namespace firetower::k8s
