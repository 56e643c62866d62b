// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "net/server/http_server.h"
#include "net/server/listener.h"
#include "net/server/tls_certificate.h"

namespace firetower::net {

// All sockets of the server, on one thread, through Boost.Asio. A connection is read until one
// request is whole, is then the business of a worker, then is written to until the peer has all of
// the response.
class ConnectionLoop {
 public:
  // `options` and `handler` outlive the loop. Without `certificate` it speaks plain HTTP.
  ConnectionLoop(const HttpServerOptions& options, const HttpHandler& handler, Listener listener,
                 std::optional<TlsCertificate> certificate);
  ~ConnectionLoop();

  // Serves until `stop`, drains for at most 2 s, then waits for the handlers that still run.
  void Run(const std::stop_token& stop) noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace firetower::net
