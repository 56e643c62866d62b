// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/target.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/json.h"
#include "base/suggest.h"
#include "cli/cluster/access.h"
#include "k8s/selector.h"

namespace firetower::cli {
namespace {

// generateName adds five characters; a policy's name has at most 63.
constexpr size_t kMaxStemBytes = 40;

struct KindName {
  std::string_view kind;
  std::array<std::string_view, 3> spellings;  // lower-case
};
constexpr KindName kKinds[] = {
    {"Deployment", {"deployment", "deployments", "deploy"}},
    {"StatefulSet", {"statefulset", "statefulsets", "sts"}},
    {"DaemonSet", {"daemonset", "daemonsets", "ds"}},
    {"ReplicaSet", {"replicaset", "replicasets", "rs"}},
    {"Job", {"job", "jobs", "job"}},
    {"CronJob", {"cronjob", "cronjobs", "cj"}},
    {"Pod", {"pod", "pods", "po"}},
};

Error Wrong(std::string_view text, std::string_view why) {
  return {ErrorCode::kInvalid,
          fmt::format("'{}': {}; name a workload, as deployment/checkout or pod/web-0, or labels, "
                      "as app=checkout,tier=web",
                      text, why)};
}

std::string StemOf(std::string_view name) {
  std::string stem(name.substr(0, kMaxStemBytes));
  for (char& c : stem) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!kept) c = '-';
  }
  while (!stem.empty() && stem.back() == '-') stem.pop_back();
  return stem;
}

Result<RecordTarget> Workload(std::string_view text, size_t slash) {
  std::string wanted(text.substr(0, slash));
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string_view name = text.substr(slash + 1);
  std::vector<std::string_view> spellings;
  for (const KindName& kind : kKinds) {
    spellings.insert(spellings.end(), kind.spellings.begin(), kind.spellings.end());
    if (std::find(kind.spellings.begin(), kind.spellings.end(), wanted) == kind.spellings.end())
      continue;
    if (!IsObjectName(name)) return Wrong(text, fmt::format("'{}' is no object's name", name));
    return RecordTarget{
        std::string(text), StemOf(name),
        fmt::format(R"({{"workloadRefs":[{{"kind":"{}","name":"{}"}}]}})", kind.kind, name)};
  }
  return Wrong(text,
               fmt::format("'{}' is no kind of workload{}", wanted, DidYouMean(wanted, spellings)));
}

Result<RecordTarget> Labels(std::string_view text) {
  std::string members;
  std::string stem;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos || (equals > 0 && one[equals - 1] == '!'))
      return Wrong(text, fmt::format("'{}' is not KEY=VALUE", one));
    const std::string_view key = one.substr(0, equals);
    std::string_view value = one.substr(equals + 1);
    if (value.starts_with('=')) value.remove_prefix(1);  // kubectl takes both
    for (const std::string& error : {k8s::LabelKeyError(key), k8s::LabelValueError(value)}) {
      if (!error.empty()) return Wrong(text, error);
    }
    if (stem.empty()) stem = StemOf(value);
    members += fmt::format(R"({}"{}":"{}")", members.empty() ? "" : ",", JsonEscape(key),
                           JsonEscape(value));
  }
  return RecordTarget{std::string(text), stem.empty() ? "pods" : stem,
                      fmt::format(R"({{"podSelector":{{"matchLabels":{{{}}}}}}})", members)};
}

}  // namespace

Result<RecordTarget> ParseTarget(std::string_view text) {
  if (text.find('=') != std::string_view::npos) return Labels(text);
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return Wrong(text, "it does not say of which kind it is");
  return Workload(text, slash);
}

}  // namespace firetower::cli
