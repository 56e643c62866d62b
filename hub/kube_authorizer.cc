// SPDX-License-Identifier: Apache-2.0
#include "hub/kube_authorizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace firetower::hub {
namespace {

constexpr std::string_view kGroup = "firetower.dev";
constexpr std::string_view kSubresource = "profiles";

// RFC 6750 §2.1; the scheme's case does not matter (RFC 9110 §11.1).
std::string BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return "";
  const bool is_bearer =
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                 [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  if (!is_bearer) return "";
  authorization.remove_prefix(kScheme.size());
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  return std::string(authorization);
}

Error Refused(std::string message) { return {ErrorCode::kPermission, std::move(message)}; }

// What the API server answers to this program is no refusal of who asks it.
template <typename T>
Result<T> OwnFault(Result<T> reviewed) {
  if (reviewed || reviewed.error().code() != ErrorCode::kPermission) return reviewed;
  return Error(ErrorCode::kUnavailable,
               "the hub may not ask who may read profiles: grant its account create of "
               "tokenreviews and subjectaccessreviews (k8s/manifests/hub-rbac.yaml): " +
                   reviewed.error().message());
}

}  // namespace

template <typename T, typename Ask>
Result<T> KubeAuthorizer::Remember(std::map<std::string, Kept<T>>& kept, const std::string& key,
                                   Ask ask, const std::function<bool(const T&)>& granted) const {
  const int64_t now_ns = clock_.MonotonicNs();
  const auto found = kept.find(key);
  if (found != kept.end() && now_ns < found->second.until_ns) return found->second.value;
  ASSIGN_OR_RETURN(T value, ask());
  if (kept.size() >= kMaxKept)
    std::erase_if(kept, [&](const auto& one) { return one.second.until_ns <= now_ns; });
  if (kept.size() >= kMaxKept) kept.clear();
  kept[key] = {value, now_ns + (granted(value) ? kKeepNs : kKeepRefusedNs)};
  return value;
}

Result<k8s::UserInfo> KubeAuthorizer::UserOf(const std::string& token) const {
  if (token.empty() || token.size() > kMaxTokenBytes) {
    return Refused(
        "no token: send the header 'Authorization: Bearer …' with one of the cluster's, such as "
        "`kubectl create token` makes");
  }
  ASSIGN_OR_RETURN(std::optional<k8s::UserInfo> user,
                   Remember<std::optional<k8s::UserInfo>>(
                       users_, token, [&] { return OwnFault(k8s::ReviewToken(server_, token)); },
                       [](const std::optional<k8s::UserInfo>& one) { return one.has_value(); }));
  if (!user) return Refused("the cluster does not know this token; it may have expired");
  return *std::move(user);
}

Status KubeAuthorizer::Identify(const query::HttpRequest& request) const {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(UserOf(BearerToken(request.authorization)));
  return OkStatus();
}

Result<bool> KubeAuthorizer::MayRead(const std::string& token, const k8s::UserInfo& user,
                                     bool of_hosts, const std::string& namespace_name) const {
  const std::string resource = of_hosts ? "clusterprofilingpolicies" : "profilingpolicies";
  return Remember<bool>(
      rights_, token + '\n' + resource + '\n' + namespace_name,
      [&] {
        return OwnFault(k8s::ReviewAccess(
            server_, user,
            {namespace_name, std::string(kGroup), resource, std::string(kSubresource)}));
      },
      [](const bool& allowed) { return allowed; });
}

Result<profile::Selector> KubeAuthorizer::Narrow(const query::HttpRequest& request,
                                                 const profile::Selector& asked) const {
  const std::string token = BearerToken(request.authorization);
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const k8s::UserInfo user, UserOf(token));
  const std::optional<std::string> wanted = asked.EqualTo("namespace");
  if (wanted == "-") {
    ASSIGN_OR_RETURN(const bool hosts, MayRead(token, user, true, ""));
    if (hosts) return asked;
    return Refused(
        fmt::format("{} may not read the hosts' profiles; see kubectl auth can-i get "
                    "clusterprofilingpolicies.{}/{}",
                    user.name, kGroup, kSubresource));
  }
  ASSIGN_OR_RETURN(const bool everywhere, MayRead(token, user, false, ""));
  if (everywhere && wanted) return asked;
  if (everywhere) {
    ASSIGN_OR_RETURN(const bool hosts, MayRead(token, user, true, ""));
    if (hosts) return asked;
    ASSIGN_OR_RETURN(profile::Matcher pods,
                     profile::Matcher::Create("namespace", profile::MatchOp::kNotEqual, "-"));
    return asked.With(std::move(pods));
  }
  if (!wanted) {
    return Refused(
        fmt::format("{} may not read the profiles of all namespaces: ask for one with "
                    "{{namespace=\"…\"}}; see kubectl auth can-i get "
                    "profilingpolicies.{}/{} -n NAMESPACE",
                    user.name, kGroup, kSubresource));
  }
  ASSIGN_OR_RETURN(const bool there, MayRead(token, user, false, *wanted));
  if (there) return asked;
  return Refused(
      fmt::format("{} may not read profiles of namespace \"{}\"; see kubectl auth can-i "
                  "get profilingpolicies.{}/{} -n {}",
                  user.name, *wanted, kGroup, kSubresource, *wanted));
}

}  // namespace firetower::hub
