// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/container.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/file.h"
#include "store/s3/credentials/endpoint_call.h"
#include "store/s3/credentials/token_json.h"

namespace firetower::store::s3 {
namespace {

constexpr size_t kMaxTokenBytes = 64 << 10;

class Source final : public CredentialsSource {
 public:
  Source(ContainerEndpoint endpoint, net::HttpClient& transport, const Clock& clock)
      : endpoint_(std::move(endpoint)), transport_(transport), clock_(clock) {}

  Result<Credentials> Fetch(const CallLimits& limits) override {
    RETURN_IF_ERROR(CheckContainerUrl(endpoint_.url));
    net::ClientRequest request{.url = endpoint_.url,
                               .link_local = endpoint_.url.starts_with("http://")};
    ASSIGN_OR_RETURN(std::string token, Token());
    if (!token.empty()) request.headers.push_back({"Authorization", std::move(token)});
    ASSIGN_OR_RETURN(const net::HttpResponse response, CallEndpoint(transport_, request, limits));
    if (!response.ok()) {
      return Error(ErrorCode::kPermission,
                   fmt::format("it answers {}{}; check the pod identity association or the task "
                               "role",
                               response.status, AboutToken(response.status)));
    }
    ASSIGN_OR_RETURN(Credentials credentials, ParseTokenJson(response.body, clock_.WallNs()));
    RETURN_IF_ERROR(CheckCredentials(credentials, Describe()));
    return credentials;
  }
  std::string Describe() const override { return "the container endpoint " + endpoint_.url; }

 private:
  // Which token it was that such an answer refuses; never the token itself.
  std::string AboutToken(int status) const {
    constexpr std::string_view kVariable = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
    if (status != 401 && status != 403) return "";
    if (!endpoint_.token_file.empty()) {
      return fmt::format(" to the token in {} ({}_FILE)", endpoint_.token_file, kVariable);
    }
    if (!endpoint_.token.empty()) return fmt::format(" to the token in {}", kVariable);
    return fmt::format(" to a request without a token (no {}_FILE, no {})", kVariable, kVariable);
  }
  Result<std::string> Token() const {
    std::string token = endpoint_.token;
    if (!endpoint_.token_file.empty()) {
      ASSIGN_OR_RETURN(token, ReadFile(endpoint_.token_file, kMaxTokenBytes));
    }
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
    if (!std::ranges::all_of(token, [](char c) { return c >= ' ' && c < 0x7F; })) {
      return Error(ErrorCode::kInvalid, "the authorization token is not one line of text");
    }
    return token;
  }

  const ContainerEndpoint endpoint_;
  net::HttpClient& transport_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<CredentialsSource> ContainerSource(ContainerEndpoint endpoint,
                                                   net::HttpClient& transport, const Clock& clock) {
  return std::make_unique<Source>(std::move(endpoint), transport, clock);
}

Status CheckContainerUrl(std::string_view url) {
  if (url.starts_with("https://")) return OkStatus();
  constexpr std::string_view kHttp = "http://";
  constexpr std::array<std::string_view, 6> kHosts = {
      "127.0.0.1", "localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
  if (url.starts_with(kHttp)) {
    const std::string_view rest = url.substr(kHttp.size());
    std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
    const size_t colon = host.rfind(':');
    if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
      host = host.substr(0, colon);
    }
    if (std::ranges::find(kHosts, host) != kHosts.end()) return OkStatus();
  }
  return Error(ErrorCode::kInvalid,
               fmt::format("AWS_CONTAINER_CREDENTIALS_FULL_URI \"{}\": allowed are https, and http "
                           "to loopback, 169.254.170.2, 169.254.170.23 and [fd00:ec2::23]",
                           url.substr(0, 200)));
}

}  // namespace firetower::store::s3
