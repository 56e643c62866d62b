// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/instance.h"

#include <fmt/core.h>

#include <utility>

#include "store/s3/credentials/endpoint_call.h"
#include "store/s3/credentials/token_json.h"
#include "store/s3/sign/uri.h"

namespace firetower::store::s3 {
namespace {

class Source final : public CredentialsSource {
 public:
  Source(std::string endpoint, net::HttpClient& transport, const Clock& clock)
      : endpoint_(std::move(endpoint)), transport_(transport), clock_(clock) {
    while (endpoint_.ends_with('/')) endpoint_.pop_back();
  }

  Result<Credentials> Fetch(const CallLimits& limits) override {
    constexpr std::string_view kRoles = "/latest/meta-data/iam/security-credentials/";
    const net::ClientRequest token_request{
        .method = "PUT",
        .url = endpoint_ + "/latest/api/token",
        .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "300"}},
        .link_local = true};
    ASSIGN_OR_RETURN(const std::string token, Ask(token_request, limits));
    net::ClientRequest request{.url = endpoint_ + std::string(kRoles),
                               .headers = {{"X-aws-ec2-metadata-token", token}},
                               .link_local = true};
    ASSIGN_OR_RETURN(const std::string roles, Ask(request, limits));
    const std::string role = roles.substr(0, roles.find('\n'));
    request.url += EncodeUriComponent(role);
    ASSIGN_OR_RETURN(const std::string json, Ask(request, limits));
    ASSIGN_OR_RETURN(Credentials credentials, ParseTokenJson(json, clock_.WallNs()));
    RETURN_IF_ERROR(CheckCredentials(credentials, Describe()));
    return credentials;
  }
  std::string Describe() const override { return "the instance's role (" + endpoint_ + ")"; }

 private:
  Result<std::string> Ask(const net::ClientRequest& request, const CallLimits& limits) {
    ASSIGN_OR_RETURN(net::HttpResponse response, CallEndpoint(transport_, request, limits));
    if (response.ok()) return std::move(response.body);
    if (response.status == 404) {
      return Error(ErrorCode::kNotFound,
                   "this instance has no role; give it one, or configure credentials");
    }
    return Error(
        ErrorCode::kPermission,
        fmt::format("it answers {}; is the hop limit 2 where pods ask it?", response.status));
  }

  std::string endpoint_;
  net::HttpClient& transport_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<CredentialsSource> InstanceSource(std::string endpoint, net::HttpClient& transport,
                                                  const Clock& clock) {
  return std::make_unique<Source>(std::move(endpoint), transport, clock);
}

}  // namespace firetower::store::s3
