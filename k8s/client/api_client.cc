// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/api_client.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "k8s/client/pod_port.h"
#include "net/client/curl_client.h"
#include "net/client/stream.h"

namespace firetower::k8s {
namespace {

constexpr int64_t kConnectTimeoutSeconds = 10;
// The API server ends a request that is no watch after a minute by itself (--request-timeout).
constexpr int64_t kHeadTimeoutNs = 70 * kNsPerSecond;
constexpr int64_t kMaxRetryAfterSeconds = 3600;

int64_t RetryAfterNs(std::string_view text) {
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) return 0;
  return std::min(seconds, kMaxRetryAfterSeconds) * kNsPerSecond;
}

}  // namespace

ApiClient::ApiClient(ClientConfig config, std::string user_agent, const Clock& clock)
    : config_(std::move(config)),
      user_agent_(std::move(user_agent)),
      clock_(clock),
      credentials_(config_, clock, cancel_.fd()) {}

ApiClient::~ApiClient() = default;

void ApiClient::Cancel() noexcept {
  stop_.request_stop();
  cancel_.Notify();
}

net::Url ApiClient::Server() const {
  net::Url url = config_.server;
  if (url.tls && !config_.tls_server_name.empty()) url.host = config_.tls_server_name;
  return url;
}

net::ClientOptions ApiClient::Options(const Identity& identity, std::string ca_pem) const {
  net::ClientOptions options;
  options.ca_pem = std::move(ca_pem);
  options.certificate_pem = identity.certificate_pem;
  options.key_pem = identity.key_pem;
  options.skip_verification = config_.insecure_skip_tls_verify;
  options.trust_advice = "see the certificate authority and the server's name";
  options.proxy = config_.proxy_url;
  if (options.proxy.empty() && config_.server.IsLoopback()) options.proxy = "none";
  options.user_agent = user_agent_;
  options.connect_timeout_seconds = kConnectTimeoutSeconds;
  if (Server().host != config_.server.host) options.connect_to = config_.server.Authority();
  return options;
}

Result<std::string> ApiClient::ReadCa() const {
  if (!config_.server.tls || config_.insecure_skip_tls_verify) return std::string();
  Result<std::string> read = config_.ca.Read();
  if (read) return read;
  // A bundle that is being replaced: the last one is as good as it was.
  if (!ca_pem_.empty()) return ca_pem_;
  return std::move(read).error().Context("certificate authority");
}

Status ApiClient::EnsureClient(const Identity& identity) {
  ASSIGN_OR_RETURN(std::string ca_pem, ReadCa());
  const bool same = ca_pem == ca_pem_ && identity.certificate_pem == identity_.certificate_pem &&
                    identity.key_pem == identity_.key_pem;
  const bool fresh = clock_.MonotonicNs() - used_ns_ < kMaxIdleNs;
  if (http_ != nullptr && same && fresh) return OkStatus();
  http_.reset();
  ASSIGN_OR_RETURN(http_, net::CurlClient::Create(Options(identity, ca_pem)));
  ca_pem_ = std::move(ca_pem);
  identity_ = identity;
  return OkStatus();
}

Result<ApiReply> ApiClient::Exchange(const ApiRequest& request, const Identity& identity,
                                     BodySink& sink) {
  RETURN_IF_ERROR(EnsureClient(identity).Context(config_.ServerText()));
  net::ClientRequest sent;
  sent.method = request.method;
  sent.url = Server().Text() + request.target;
  sent.headers = {{"Host", config_.server.Authority()}, {"Accept", "application/json"}};
  if (!request.content_type.empty())
    sent.headers.emplace_back("Content-Type", request.content_type);
  if (!identity.bearer_token.empty())
    sent.headers.emplace_back("Authorization", "Bearer " + identity.bearer_token);
  sent.body = request.body;
  sent.sink = &sink;
  sent.gzip = true;
  sent.resend = request.method == "GET";
  sent.head_timeout_ns = kHeadTimeoutNs;
  sent.broken_response = ErrorCode::kCorrupt;
  Result<net::HttpResponse> response = http_->Send(sent, {.stop = stop_.get_token()});
  used_ns_ = clock_.MonotonicNs();
  if (!response) return std::move(response).error();
  return ApiReply{response->status, std::move(response->body),
                  RetryAfterNs(response->Header("retry-after"))};
}

Result<ApiReply> ApiClient::Send(const ApiRequest& request, BodySink& sink) {
  for (bool again = false;; again = true) {
    ASSIGN_OR_RETURN(const Identity identity, credentials_.Get());
    Result<ApiReply> reply = Exchange(request, identity, sink);
    if (!reply || reply->status != 401 || again || !credentials_.Refused()) return reply;
  }
}

Result<std::string> ApiClient::BearerToken() {
  ASSIGN_OR_RETURN(Identity identity, credentials_.Get());
  return std::move(identity.bearer_token);
}

Result<std::unique_ptr<PodPort>> ApiClient::OpenPodPort(const PodPortTarget& target,
                                                        int64_t timeout_ns) {
  ASSIGN_OR_RETURN(const Identity identity, credentials_.Get());
  ASSIGN_OR_RETURN(const std::string ca_pem, ReadCa());
  ASSIGN_OR_RETURN(std::unique_ptr<net::ByteStream> connection,
                   net::OpenStream(Options(identity, ca_pem), Server(), cancel_.fd(), timeout_ns));
  return PodPort::Open(std::move(connection), config_.server, identity.bearer_token, target,
                       timeout_ns);
}

}  // namespace firetower::k8s
