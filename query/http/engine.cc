// SPDX-License-Identifier: Apache-2.0
#include "query/http/engine.h"

#include <fmt/core.h>
#include <httplib.h>

#include <cstring>
#include <exception>
#include <utility>

#include "base/log.h"
#include "query/http/chunked.h"
#include "query/http/url.h"

namespace firetower::query {
namespace {

// A request that has arrived whole, and room for the answer.
class MemoryStream : public httplib::Stream {
 public:
  MemoryStream(std::string_view in, const std::string& remote) : in_(in), remote_(remote) {}

  bool is_readable() const override { return !in_.empty(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* out, size_t size) override {
    size_t n = std::min(size, in_.size());
    std::memcpy(out, in_.data(), n);
    in_.remove_prefix(n);
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* data, size_t size) override {
    out_.append(data, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = remote_;
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  // Only looked at to refuse descriptors that select() cannot take; none is used here.
  socket_t socket() const override { return 0; }

  std::string TakeOutput() { return std::move(out_); }

 private:
  std::string_view in_;
  const std::string& remote_;
  std::string out_;
};

// httplib reads Range with std::regex, which recurses once a character: a long one needs a megabyte
// of stack. We answer whole (RFC 9110 §14.2 lets a server ignore Range), so the name is spoilt.
std::string WithoutRange(std::string_view request) {
  constexpr std::string_view kName = "range:";
  std::string out(request);
  size_t head_end = out.find("\r\n\r\n");
  for (size_t at = out.find('\n'); at < head_end; at = out.find('\n', at + 1)) {
    bool same = at + kName.size() < out.size();
    for (size_t i = 0; same && i < kName.size(); ++i) {
      // Folds upper case onto lower; ':' has the bit already.
      same = static_cast<char>(out[at + 1 + i] | 0x20) == kName[i];
    }
    if (same) out[at + 1] = 'x';
  }
  return out;
}

// httplib splits values at every '=', so the query is decoded here, from the target as sent.
Result<HttpRequest> Translate(const httplib::Request& from, std::string_view body) {
  HttpRequest request;
  request.method = from.method;
  request.path = from.path;
  request.accept = from.get_header_value("Accept");
  request.authorization = from.get_header_value("Authorization");
  request.host = from.get_header_value("Host");
  request.remote_address = from.remote_addr;
  if (from.method != "GET" && from.method != "HEAD") {
    request.body = from.has_header("Transfer-Encoding") ? JoinChunks(body) : std::string(body);
    request.content_type = from.get_header_value("Content-Type");
    request.content_encoding = from.get_header_value("Content-Encoding");
    request.accept_encoding = from.get_header_value("Accept-Encoding");
    request.connect_version = from.get_header_value("Connect-Protocol-Version");
  }
  size_t question = from.target.find('?');
  if (question != std::string::npos) {
    ASSIGN_OR_RETURN(request.params,
                     DecodeQuery(std::string_view(from.target).substr(question + 1)));
  }
  return request;
}

constexpr int kUriTooLong = 414;

std::string WhyRefused(int status) {
  if (status != kUriTooLong) return "the request is not valid HTTP/1.1";
  return fmt::format("the path with its parameters has more than {} bytes: shorten the selector",
                     CPPHTTPLIB_REQUEST_URI_MAX_LENGTH);
}

}  // namespace

class HttpEngine::Impl : public httplib::Server {
 public:
  explicit Impl(const HttpHandler& handler) : handler_(handler) {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      Handle(request, response);
      return HandlerResponse::Handled;
    });
    // What httplib refuses by itself (a bad request line, a long URI) gets our body too.
    set_error_handler(HandlerWithResponse([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return HandlerResponse::Unhandled;
      HttpResponse ours = JsonError(response.status, WhyRefused(response.status));
      response.set_content(ours.body, ours.content_type);
      return HandlerResponse::Handled;
    }));
    set_logger([this](const httplib::Request&, const httplib::Response& response) {
      status_ = response.status;
    });
  }

  Reply Serve(std::string_view bytes, const std::string& remote, bool last, std::stop_token gone) {
    gone_ = std::move(gone);
    status_ = 0;
    route_ = "";
    bool parsed = false;
    bool close = false;
    std::string request = WithoutRange(bytes);
    // Whole already; httplib would look at it only after the handler.
    const size_t head_end = std::min(request.find("\r\n\r\n"), request.size());
    body_ = std::string_view(request).substr(std::min(head_end + 4, request.size()));
    MemoryStream stream(request, remote);
    bool written = process_request(stream, last, close, [&](httplib::Request&) { parsed = true; });
    Reply reply;
    reply.bytes = stream.TakeOutput();
    reply.close = last || close || !written || !parsed;
    reply.status = status_;
    reply.route = route_;
    return reply;
  }

 private:
  void Handle(const httplib::Request& from, httplib::Response& to) {
    HttpResponse response;
    try {
      Result<HttpRequest> request = Translate(from, body_);
      if (request) request->gone = gone_;
      response = request ? handler_(*request) : JsonError(400, request.error().message());
    } catch (const std::exception& e) {
      LOG(kError, "request handler failed", {{"path", from.path}, {"error", e.what()}});
      response = JsonError(500, "internal error; the server's log has the reason");
    }
    route_ = response.route;
    to.status = response.status;
    for (const auto& [name, value] : response.headers) to.set_header(name, value);
    // Profiles are of today; a cache in between must not answer tomorrow.
    to.set_header("Cache-Control", "no-store");
    to.set_header("X-Content-Type-Options", "nosniff");
    to.set_content(response.body, response.content_type);
  }

  const HttpHandler& handler_;
  std::stop_token gone_;
  std::string_view body_;
  int status_ = 0;
  std::string_view route_;
};

HttpEngine::HttpEngine(const HttpHandler& handler) : impl_(std::make_unique<Impl>(handler)) {}
HttpEngine::~HttpEngine() = default;

HttpEngine::Reply HttpEngine::Serve(std::string_view request, const std::string& remote_address,
                                    bool last, std::stop_token gone) noexcept {
  try {
    return impl_->Serve(request, remote_address, last, std::move(gone));
  } catch (const std::exception&) {
    Reply reply;
    reply.bytes = RefusalBytes(500, "internal error");
    reply.close = true;
    reply.status = 500;
    return reply;
  }
}

std::string RefusalBytes(int status, std::string_view message) {
  HttpResponse response = JsonError(status, message);
  return fmt::format(
      "HTTP/1.1 {} Refused\r\nConnection: close\r\nContent-Type: {}\r\nContent-Length: "
      "{}\r\n\r\n{}",
      status, response.content_type, response.body.size(), response.body);
}

}  // namespace firetower::query
