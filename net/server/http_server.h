// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/message.h"
#include "net/server/host_guard.h"
#include "net/server/request_reader.h"
#include "net/server/tls_certificate.h"

namespace firetower::net {

// One answer, for the metrics of whoever runs the server. `route` is HttpResponse::route, "other"
// without one, "refused" for what no handler saw: a bounded set, unlike paths.
struct RequestStats {
  std::string_view route;
  int status = 0;
  double seconds = 0;
};
using RequestObserver = std::function<void(const RequestStats&)>;

struct HttpServerOptions {
  std::string listen = "127.0.0.1:7070";  // HOST:PORT, [V6]:PORT; port 0 lets the kernel choose
  // Handlers that run at once. More would only share the CPU that profiled programs need.
  int worker_threads = 4;
  // Beyond it the longest idle connection is closed, else the longest unfinished request.
  int max_connections = 128;
  int requests_per_connection = 1000;
  RequestLimits limits;                          // 16 KiB of head, 1 MiB of body
  int64_t read_timeout_ns = 10 * kNsPerSecond;   // from a request's first byte to its last
  int64_t write_timeout_ns = 10 * kNsPerSecond;  // without the peer taking a byte
  int64_t idle_timeout_ns = 5 * kNsPerSecond;    // between requests
  // TLS 1.2 or later alone; none: plain HTTP. A handshake has until read_timeout_ns. The files are
  // read again that often, because 10 s after a renewal is soon enough.
  std::optional<TlsFiles> tls;
  int64_t tls_look_ns = 10 * kNsPerSecond;
  // Called once before Start returns, then from the loop when the state has changed.
  std::function<void(const TlsCertificateState&)> on_certificate;
  // Responses not yet taken by their readers; beyond it new requests get 503.
  size_t max_pending_bytes = 64 << 20;
  // Set where nobody is asked who he is; else by whatever name it is asked, it answers.
  std::optional<HostRule> host_rule;
  // Answers that the server gives by itself: refusals, and the 500 of a handler that threw.
  ErrorFormat error_format = PlainError;
  // Called from worker threads, and from the loop for what was refused unread.
  RequestObserver observer;
};

// An HTTP/1.1 server whose peers can be slow, silent or hostile without keeping others waiting:
//
//   http-loop thread: accepts, reads requests whole, writes responses, TLS (epoll, never blocks)
//        │  request                            ▲ response bytes
//        ▼                                     │
//   http-worker threads: handle, encode (no I/O)
//
// Boost.Beast reads the messages, Boost.Asio the sockets (ADR 26). A peer that closes its side
// while it is answered has gone: HttpRequest::gone says so within the millisecond. Owns its threads
// and sockets. Exceptions from the handler become 500s.
class HttpServer {
 public:
  // Binds and begins to serve. The error names the address, or a file of the certificate, and what
  // to do.
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, HttpHandler handler);

  // Stops, as Stop() does.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Accepts no more, lets running handlers end and their responses go out for at most 2 s; then
  // requests are told that nobody waits (HttpRequest::gone), and their handlers waited for.
  // Idempotent; not to be called from a handler.
  void Stop();

  // As bound: "127.0.0.1:41234".
  const std::string& address() const;
  // "http://127.0.0.1:41234", https with TLS, with a wildcard address shown as the loopback one.
  std::string url() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace firetower::net
