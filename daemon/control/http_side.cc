// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/http_side.h"

#include <fmt/core.h>

#include <utility>

#include "query/http/errors.h"

namespace firetower::daemon {

HttpSide::HttpSide(Parts parts)
    : sources_(parts.exporter, parts.registry, std::move(parts.doctor), std::move(parts.awaited)),
      api_({parts.store, sources_, sources_, sources_, sources_, authorizer_}) {}

Result<std::unique_ptr<HttpSide>> HttpSide::Start(Parts parts) {
  const Config& config = parts.config;
  std::unique_ptr<HttpSide> side(new HttpSide(std::move(parts)));
  net::HttpServerOptions options;
  options.error_format = query::JsonError;
  options.worker_threads = side->api_.WorkerThreads();
  const std::string& host = config.listen.host;
  const bool v6 = host.find(':') != std::string::npos;
  options.listen = fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", config.listen.port);
  options.host_rule = {config.allowed_hosts, "add the name to --allowed-hosts"};
  ASSIGN_OR_RETURN(
      side->server_,
      net::HttpServer::Start(options, [&api = side->api_](const net::HttpRequest& request) {
        return api.Serve(request);
      }));
  return side;
}

}  // namespace firetower::daemon
