// SPDX-License-Identifier: Apache-2.0
#include "query/select/kinds.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.h"

namespace firetower::query {
namespace {

constexpr size_t kMaxNameBytes = 253;  // Kubernetes, "Object Names and IDs"

// The names and short names of `kubectl api-resources`.
constexpr ObjectKind kKinds[] = {
    {"Deployment", "apps", {"deployment", "deployments", "deploy"}, true},
    {"StatefulSet", "apps", {"statefulset", "statefulsets", "sts"}, true},
    {"DaemonSet", "apps", {"daemonset", "daemonsets", "ds"}, true},
    {"ReplicaSet", "apps", {"replicaset", "replicasets", "rs"}, true},
    {"Job", "batch", {"job", "jobs", ""}, true},
    {"CronJob", "batch", {"cronjob", "cronjobs", "cj"}, true},
    {"Pod", "", {"pod", "pods", "po"}, true},
    {"ReplicationController", "", {"replicationcontroller", "replicationcontrollers", "rc"}, false},
    {"Node", "", {"node", "nodes", "no"}, false},
    {"Namespace", "", {"namespace", "namespaces", "ns"}, false},
};

// kubectl's own logs and port-forward accept services, but a profile does not tell the services of
// its pod.
constexpr std::string_view kServices[] = {"service", "services", "svc"};

const ObjectKind* FindKind(std::string_view resource) {
  for (const ObjectKind& kind : kKinds) {
    if (std::ranges::find(kind.spellings, resource) != kind.spellings.end()) return &kind;
  }
  return nullptr;
}

Error Wrong(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

Error UnknownKind(std::string_view resource) {
  if (std::ranges::find(kServices, resource) != std::end(kServices))
    return Wrong("profiles do not have the Services of their pods");
  std::vector<std::string_view> spellings;
  for (const ObjectKind& kind : kKinds) {
    for (const std::string_view spelling : kind.spellings) {
      if (!spelling.empty()) spellings.push_back(spelling);
    }
  }
  return Wrong(fmt::format("'{}' is not a supported kind of object{}", resource,
                           DidYouMean(resource, spellings)));
}

}  // namespace

bool IsObjectName(std::string_view name) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kMaxNameBytes && alphanumeric(name.front()) &&
         alphanumeric(name.back()) && std::all_of(name.begin(), name.end(), [&](char c) {
           return alphanumeric(c) || c == '-' || c == '.';
         });
}

bool IsNamedObject(std::string_view text) {
  return text.find('/') != std::string_view::npos &&
         text.find_first_of("{}=\"") == std::string_view::npos;
}

Result<NamedObject> ParseNamedObject(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return Wrong("the kind is missing");
  std::string head(text.substr(0, slash));
  std::ranges::transform(head, head.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  const size_t dot = head.find('.');
  const std::string resource = head.substr(0, dot);
  const ObjectKind* kind = FindKind(resource);
  if (kind == nullptr || resource.empty()) return UnknownKind(head);
  // kubectl takes RESOURCE.GROUP and RESOURCE.VERSION.GROUP.
  if (dot != std::string::npos) {
    const std::string_view group = std::string_view(head).substr(dot + 1);
    if (group != kind->group && group != fmt::format("v1.{}", kind->group)) {
      return Wrong(
          fmt::format("a {} is of the API group '{}', not '{}'", kind->kind, kind->group, group));
    }
  }
  const std::string_view name = text.substr(slash + 1);
  if (!IsObjectName(name)) return Wrong(fmt::format("'{}' is not a valid name of an object", name));
  return NamedObject{kind, name};
}

}  // namespace firetower::query
