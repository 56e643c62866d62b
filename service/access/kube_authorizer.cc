// SPDX-License-Identifier: Apache-2.0
#include "service/access/kube_authorizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/file.h"
#include "store/s3/sign/digest.h"

namespace firetower::service {
namespace {

constexpr std::string_view kGroup = "firetower.dev";
constexpr std::string_view kSubresource = "profiles";
constexpr std::string_view kMetricsPath = "/metrics";

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

// The namespace that is asked for, if it is one: also by a pattern that matches one name alone, as
// Grafana's links have it, which hold as well where several are chosen.
std::optional<std::string> NamespaceOf(const profile::Selector& asked) {
  if (std::optional<std::string> named = asked.EqualTo("namespace")) return named;
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz0123456789-";
  for (const profile::Matcher& matcher : asked.matchers()) {
    const std::string& value = matcher.value();
    if (matcher.name() == "namespace" && matcher.op() == profile::MatchOp::kRegex &&
        !value.empty() && value.find_first_not_of(kPlain) == std::string::npos)
      return value;
  }
  return std::nullopt;
}

bool IsToken(const std::string& token) {
  return !token.empty() && token.size() <= KubeAuthorizer::kMaxTokenBytes;
}

// Returns the key under which a token or a review is cached: 4,096 digests take little room, and no
// token stays in memory.
std::string DigestOf(const std::string& text) {
  const store::s3::Sha256Digest digest = store::s3::Sha256(text);
  return std::string(store::s3::AsText(digest));
}

Error NoToken() {
  return Refused(
      "no token: send the header 'Authorization: Bearer …' with one of the cluster's, such as "
      "`kubectl create token` makes");
}

Error UnknownToken() {
  return Refused("the cluster does not know this token; it may have expired");
}

// Turns a refusal of this program by the API server into a fault that is not the caller's.
template <typename T>
Result<T> OwnFault(Result<T> reviewed) {
  if (reviewed || reviewed.error().code() != ErrorCode::kPermission) return reviewed;
  return Error(ErrorCode::kUnavailable,
               "this program may not ask who may read profiles: grant its account create of "
               "tokenreviews and subjectaccessreviews (k8s/manifests): " +
                   reviewed.error().message());
}

}  // namespace

template <typename T>
std::optional<T> KubeAuthorizer::Find(const std::map<std::string, Kept<T>>& kept,
                                      const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept.find(key);
  if (found == kept.end() || clock_.MonotonicNs() >= found->second.until_ns) return std::nullopt;
  return found->second.value;
}

template <typename T, typename Ask>
Result<T> KubeAuthorizer::Remember(std::map<std::string, Kept<T>>& kept, const std::string& key,
                                   Ask ask, const std::function<bool(const T&)>& granted,
                                   int64_t keep_ns) const {
  if (std::optional<T> known = Find(kept, key)) return *std::move(known);
  const std::lock_guard asking(asking_);
  // Looks again: another thread may have asked the same meanwhile.
  if (std::optional<T> known = Find(kept, key)) return *std::move(known);
  ASSIGN_OR_RETURN(T value, ask());
  const std::lock_guard lock(mutex_);
  const int64_t now_ns = clock_.MonotonicNs();
  if (kept.size() >= kMaxKept) {
    std::erase_if(kept, [&](const auto& one) {
      const int64_t longer_ns = granted(one.second.value) ? kFamiliarNs : 0;
      return one.second.until_ns + longer_ns <= now_ns;
    });
  }
  // Evicts one-off callers, whose entries expire first, before returning ones.
  if (kept.size() >= kMaxKept) {
    kept.erase(
        std::ranges::min_element(kept, {}, [](const auto& one) { return one.second.until_ns; }));
  }
  kept[key] = {value, now_ns + (granted(value) ? keep_ns : kKeepRefusedNs)};
  return value;
}

// Compares digests, whose time to compare tells nothing of the token.
bool KubeAuthorizer::IsOwn(const std::string& token) const {
  if (own_token_file_.empty() || !IsToken(token)) return false;
  Result<std::string> own = ReadFile(own_token_file_, kMaxTokenBytes);
  if (!own) return false;
  while (own->ends_with('\n')) own->pop_back();
  return IsToken(*own) && DigestOf(*own) == DigestOf(token);
}

bool KubeAuthorizer::IsFamiliar(const std::string& digest) const {
  const std::lock_guard lock(mutex_);
  const auto found = users_.find(digest);
  return found != users_.end() && found->second.value &&
         clock_.MonotonicNs() < found->second.until_ns + kFamiliarNs;
}

bool KubeAuthorizer::TakesStranger() const {
  constexpr int64_t kEachNs = kNsPerSecond / kStrangersPerSecond;
  const std::lock_guard lock(mutex_);
  const int64_t now_ns = clock_.MonotonicNs();
  const int64_t from_ns = std::max(strangers_from_ns_, now_ns - kMaxStrangers * kEachNs);
  if (from_ns + kEachNs > now_ns) return false;
  strangers_from_ns_ = from_ns + kEachNs;
  return true;
}

Result<bool> KubeAuthorizer::Recall(const net::HttpRequest& request) const {
  const std::string token = BearerToken(request.authorization);
  if (!IsToken(token)) return NoToken();
  if (IsOwn(token)) return true;
  const std::string digest = DigestOf(token);
  const auto known = Find(users_, digest);
  if (known && !*known) return UnknownToken();
  return IsFamiliar(digest);
}

Result<k8s::UserInfo> KubeAuthorizer::UserOf(const std::string& token) const {
  if (!IsToken(token)) return NoToken();
  const std::string digest = DigestOf(token);
  const auto ask = [&]() -> Result<std::optional<k8s::UserInfo>> {
    if (!IsFamiliar(digest) && !TakesStranger()) {
      return Error(ErrorCode::kUnavailable,
                   "too many unknown tokens are sent to this server: ask again in some seconds");
    }
    return OwnFault(k8s::ReviewToken(server_, token));
  };
  ASSIGN_OR_RETURN(std::optional<k8s::UserInfo> user,
                   Remember<std::optional<k8s::UserInfo>>(
                       users_, digest, ask,
                       [](const std::optional<k8s::UserInfo>& one) { return one.has_value(); }));
  if (!user) return UnknownToken();
  return *std::move(user);
}

Status KubeAuthorizer::Identify(const net::HttpRequest& request) const {
  const std::string token = BearerToken(request.authorization);
  if (IsOwn(token)) return OkStatus();
  RETURN_IF_ERROR(UserOf(token));
  return OkStatus();
}

Status KubeAuthorizer::ReadMetrics(const net::HttpRequest& request) const {
  const std::string token = BearerToken(request.authorization);
  const std::string key = DigestOf(token + '\n' + std::string(kMetricsPath));
  if (IsOwn(token) || Find(rights_, key) == true) return OkStatus();
  ASSIGN_OR_RETURN(const k8s::UserInfo user, UserOf(token));
  ASSIGN_OR_RETURN(const bool allowed,
                   Remember<bool>(
                       rights_, key,
                       [&] { return OwnFault(k8s::ReviewPathAccess(server_, user, kMetricsPath)); },
                       [](const bool& granted) { return granted; }, kKeepMetricsNs));
  if (allowed) return OkStatus();
  return Refused(fmt::format("{} may not read metrics; see kubectl auth can-i get {}", user.name,
                             kMetricsPath));
}

Result<bool> KubeAuthorizer::MayRead(const std::string& token, const k8s::UserInfo& user,
                                     bool of_hosts, const std::string& namespace_name) const {
  const std::string resource = of_hosts ? "clusterprofilingpolicies" : "profilingpolicies";
  return Remember<bool>(
      rights_, DigestOf(token + '\n' + resource + '\n' + namespace_name),
      [&] {
        return OwnFault(k8s::ReviewAccess(
            server_, user,
            {namespace_name, std::string(kGroup), resource, std::string(kSubresource)}));
      },
      [](const bool& allowed) { return allowed; });
}

Result<profile::Selector> KubeAuthorizer::Narrow(const net::HttpRequest& request,
                                                 const profile::Selector& asked) const {
  const std::string token = BearerToken(request.authorization);
  if (IsOwn(token)) return asked;
  ASSIGN_OR_RETURN(const k8s::UserInfo user, UserOf(token));
  const std::optional<std::string> wanted = NamespaceOf(asked);
  // A DNS label (RFC 1123); what is longer would be a request of that size to the API server.
  constexpr size_t kMaxNamespaceBytes = 63;
  if (wanted && wanted->size() > kMaxNamespaceBytes) {
    return Refused(fmt::format("\"{}…\" is no namespace's name: it is longer than {} characters",
                               wanted->substr(0, kMaxNamespaceBytes), kMaxNamespaceBytes));
  }
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

}  // namespace firetower::service
