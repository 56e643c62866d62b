// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/api_client.h"

#include <utility>

#include "k8s/client/connection.h"
#include "k8s/client/http_session.h"
#include "k8s/client/pod_port.h"

namespace firetower::k8s {
namespace {

constexpr int64_t kConnectTimeoutNs = 10 * kNsPerSecond;
// The API server ends a request that is no watch after a minute by itself (--request-timeout).
constexpr int64_t kHeadTimeoutNs = 70 * kNsPerSecond;

}  // namespace

ApiClient::ApiClient(ClientConfig config, std::string user_agent, const Clock& clock)
    : config_(std::move(config)),
      user_agent_(std::move(user_agent)),
      clock_(clock),
      credentials_(config_, clock, cancel_.fd()) {}

ApiClient::~ApiClient() = default;

void ApiClient::Cancel() noexcept { cancel_.Notify(); }

Result<std::string> ApiClient::ReadCa() const {
  if (!config_.server.tls || config_.insecure_skip_tls_verify) return std::string();
  Result<std::string> read = config_.ca.Read();
  if (read) return read;
  // A bundle that is being replaced: the last one is as good as it was.
  if (!ca_pem_.empty()) return ca_pem_;
  return std::move(read).error().Context("certificate authority");
}

Result<bool> ApiClient::EnsureSession(const Identity& identity) {
  ASSIGN_OR_RETURN(std::string ca_pem, ReadCa());
  const bool same = ca_pem == ca_pem_ && identity.certificate_pem == identity_.certificate_pem &&
                    identity.key_pem == identity_.key_pem;
  const bool fresh = clock_.MonotonicNs() - used_ns_ < kMaxIdleNs;
  if (session_ != nullptr && session_->reusable() && same && fresh) return true;
  session_.reset();
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                   Connection::Open(config_, ca_pem, identity, cancel_, kConnectTimeoutNs));
  session_ = std::make_unique<HttpSession>(config_.server.host, config_.server.port,
                                           std::move(connection), kHeadTimeoutNs);
  ca_pem_ = std::move(ca_pem);
  identity_ = identity;
  return false;
}

Result<ApiReply> ApiClient::Exchange(const ApiRequest& request, const Identity& identity,
                                     BodySink& sink) {
  ASSIGN_OR_RETURN(const bool used_before, EnsureSession(identity));
  ApiRequest sent = request;
  sent.target = config_.server.base_path + request.target;
  HttpHeaders headers = {
      {"User-Agent", user_agent_}, {"Accept", "application/json"}, {"Accept-Encoding", "gzip"}};
  if (!identity.bearer_token.empty())
    headers.emplace_back("Authorization", "Bearer " + identity.bearer_token);
  const auto send = [&] {
    Result<ApiReply> reply = session_->Send(sent, headers, sink);
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

Result<std::string> ApiClient::BearerToken() {
  ASSIGN_OR_RETURN(Identity identity, credentials_.Get());
  return std::move(identity.bearer_token);
}

Result<std::unique_ptr<PodPort>> ApiClient::OpenPodPort(const PodPortTarget& target,
                                                        int64_t timeout_ns) {
  ASSIGN_OR_RETURN(const Identity identity, credentials_.Get());
  ASSIGN_OR_RETURN(const std::string ca_pem, ReadCa());
  Result<std::unique_ptr<Connection>> connection =
      Connection::Open(config_, ca_pem, identity, cancel_, timeout_ns);
  if (!connection) return std::move(connection).error().Context(config_.ServerText());
  return PodPort::Open(*std::move(connection), config_.server, identity.bearer_token, target,
                       timeout_ns);
}

}  // namespace firetower::k8s
