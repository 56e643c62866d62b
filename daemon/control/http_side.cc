// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/http_side.h"

#include <fmt/core.h>

#include <utility>

#include "query/flame/file_endpoint.h"
#include "query/http/errors.h"
#include "service/access/kube_authorizer.h"

namespace firetower::daemon {
namespace {

// Callers with unknown tokens that may wait for the API server, each in a thread of its own.
constexpr int kStrangers = 2;

std::unique_ptr<const query::Authorizer> AuthorizerOf(k8s::ApiClient* reviews,
                                                      std::string own_token_file) {
  if (reviews == nullptr) return std::make_unique<query::AllowAll>();
  return std::make_unique<service::KubeAuthorizer>(*reviews, Clock::System(),
                                                   std::move(own_token_file));
}

}  // namespace

HttpSide::HttpSide(Parts parts)
    : sources_(parts.exporter, parts.registry, std::move(parts.doctor), std::move(parts.awaited),
               std::move(parts.policies)),
      reviews_(std::move(parts.reviews)),
      authorizer_(AuthorizerOf(reviews_.get(), std::move(parts.own_token_file))),
      api_(query::ApiParts{
          .store = {parts.store},
          .live = sources_,
          .metrics = sources_,
          .doctor = sources_,
          .ready = sources_,
          .authorizer = *authorizer_,
          .policies = &sources_,
          .admission = {.strangers = reviews_ ? kStrangers : 0},
          .authorize_metrics = parts.config.metrics_authorize,
          .signature_file = parts.config.signature_file,
          .trace_url = parts.config.trace_url,
          // An agent's memory is the node's.
          .max_file_bytes = parts.config.standalone ? query::kServedFileBytes : 0}) {}

void HttpSide::Stop() {
  if (reviews_) reviews_->Cancel();
  server_->Stop();
}

Result<std::unique_ptr<HttpSide>> HttpSide::Start(Parts parts) {
  const Config& config = parts.config;
  MetricsRegistry& registry = parts.registry;
  std::unique_ptr<HttpSide> side(new HttpSide(std::move(parts)));
  net::HttpServerOptions options;
  options.error_format = query::JsonError;
  options.worker_threads = side->api_.WorkerThreads();
  const std::string& host = config.listen.host;
  const bool v6 = host.find(':') != std::string::npos;
  options.listen = fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", config.listen.port);
  if (config.standalone) options.limits.large = query::FilesOf(query::kServedFileBytes);
  options.host_rule = {config.allowed_hosts, "add the name to --allowed-hosts"};
  if (!config.tls_cert_file.empty())
    options.tls = {config.tls_cert_file, config.tls_private_key_file};
  options.on_certificate = [&registry](const net::TlsCertificateState& state) {
    registry.Set(MetricId::kTlsExpiry, static_cast<double>(state.not_after_seconds));
    registry.SetTotal(MetricId::kTlsRefused, static_cast<double>(state.refused));
  };
  ASSIGN_OR_RETURN(
      side->server_,
      net::HttpServer::Start(options, [&api = side->api_](const net::HttpRequest& request) {
        return api.Serve(request);
      }));
  return side;
}

}  // namespace firetower::daemon
