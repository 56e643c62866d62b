// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/web_identity.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/file.h"
#include "store/s3/credentials/endpoint_call.h"
#include "store/s3/http/date.h"
#include "store/s3/http/retry.h"
#include "store/s3/messages.h"
#include "store/s3/sign/uri.h"

namespace firetower::store::s3 {
namespace {

constexpr size_t kMaxTokenBytes = 20'000;  // STS takes as many

class Source final : public CredentialsSource {
 public:
  Source(WebIdentity identity, net::HttpClient& transport, const Clock& clock)
      : identity_(std::move(identity)), transport_(transport), clock_(clock) {}

  Result<Credentials> Fetch(const CallLimits& limits) override {
    ASSIGN_OR_RETURN(std::string token, ReadFile(identity_.token_file, kMaxTokenBytes));
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
    // In the body, so that the token is in no log of a proxy or a server.
    const QueryParameter form[] = {{"Action", "AssumeRoleWithWebIdentity"},
                                   {"Version", "2011-06-15"},
                                   {"RoleArn", identity_.role_arn},
                                   {"RoleSessionName", identity_.session_name},
                                   {"WebIdentityToken", token}};
    const std::string body = CanonicalQuery(form);
    const net::ClientRequest request{
        .method = "POST",
        .url = identity_.sts_endpoint + "/",
        .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
        .body = body};
    ASSIGN_OR_RETURN(const net::HttpResponse response, CallEndpoint(transport_, request, limits));
    if (!response.ok()) return Refused(response, token);
    ASSIGN_OR_RETURN(const AssumedRole role, ParseAssumedRole(response.body));
    const std::optional<int64_t> expires_s = ParseIsoTime(role.expiration);
    if (!expires_s) return Error(ErrorCode::kCorrupt, "STS: its Expiration is not a time in UTC");
    Credentials credentials{.access_key_id = role.access_key_id,
                            .secret_access_key = role.secret_access_key,
                            .session_token = role.session_token,
                            .expires_ns = *expires_s * kNsPerSecond};
    credentials.refresh_ns = RefreshTimeNs(credentials.expires_ns, clock_.WallNs());
    RETURN_IF_ERROR(CheckCredentials(credentials, Describe()));
    return credentials;
  }
  std::string Describe() const override {
    return fmt::format("web identity ({} at {})", identity_.role_arn, identity_.sts_endpoint);
  }

 private:
  static Error Refused(const net::HttpResponse& response, std::string_view token) {
    std::string told = response.body;
    HideSecrets({token}, &told);
    const ErrorBody body = ParseError(told);
    return {
        IsRetryable(response.status, body.code) ? ErrorCode::kUnavailable : ErrorCode::kPermission,
        fmt::format("STS answers {}{}{}: {}; check the role's trust policy and the token's "
                    "issuer and audience",
                    response.status, body.code.empty() ? "" : " ", body.code, body.message)};
  }

  const WebIdentity identity_;
  net::HttpClient& transport_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<CredentialsSource> WebIdentitySource(WebIdentity identity,
                                                     net::HttpClient& transport,
                                                     const Clock& clock) {
  return std::make_unique<Source>(std::move(identity), transport, clock);
}

std::string StsEndpoint(const std::string& region) {
  if (region.empty()) return "https://sts.amazonaws.com";
  return fmt::format("https://sts.{}.amazonaws.com{}", region,
                     region.starts_with("cn-") ? ".cn" : "");
}

}  // namespace firetower::store::s3
