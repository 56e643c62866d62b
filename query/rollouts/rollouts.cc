// SPDX-License-Identifier: Apache-2.0
#include "query/rollouts/rollouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"

namespace firetower::query {
namespace {

constexpr std::string_view kNameCharacters = "bcdfghjklmnpqrstvwxz2456789";
constexpr size_t kSuffix = 5, kMaxRevision = 10;

struct Pod {
  std::string_view revision;
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = 0;
};

using Workload = std::pair<std::string_view, std::string_view>;  // namespace, name

bool HasOnly(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == text.npos;
}

// `pods` are those of one workload.
void AddRollouts(const Workload& workload, std::vector<Pod> pods, std::vector<Rollout>& to) {
  std::ranges::sort(pods, {}, [](const Pod& pod) { return std::pair(pod.first_ns, pod.revision); });
  // When each revision was there last, of the pods up to the one in hand.
  std::map<std::string_view, int64_t> there_until;
  for (size_t i = 0; i < pods.size(); ++i) {
    const Pod& pod = pods[i];
    int64_t& until_ns = there_until[pod.revision];
    // One that is there besides only has another pod.
    if (i > 0 && pods[i - 1].revision != pod.revision && until_ns < pod.first_ns) {
      to.push_back({std::string(workload.first), std::string(workload.second),
                    std::string(pods[i - 1].revision), std::string(pod.revision), pod.first_ns});
    }
    until_ns = std::max(until_ns, pod.last_ns);
  }
}

}  // namespace

std::string_view RevisionOf(std::string_view workload, std::string_view pod) {
  if (workload.empty() || !pod.starts_with(workload)) return {};
  pod.remove_prefix(workload.size());
  const size_t dash = pod.rfind('-');
  if (pod.empty() || pod[0] != '-' || dash == 0 || pod.size() - dash - 1 != kSuffix) return {};
  const std::string_view revision = pod.substr(1, dash - 1);
  if (revision.empty() || revision.size() > kMaxRevision ||
      !HasOnly(pod.substr(dash + 1), kNameCharacters) || !HasOnly(revision, kNameCharacters))
    return {};
  // A CronJob has minutes there.
  return HasOnly(revision, "0123456789") ? std::string_view() : revision;
}

std::vector<Rollout> FindRollouts(std::span<const store::CatalogRow> rows) {
  std::map<Workload, std::map<std::string_view, Pod>> workloads;
  for (const store::CatalogRow& row : rows) {
    const std::string_view revision = RevisionOf(row.workload, row.pod);
    if (revision.empty()) continue;
    Pod& pod = workloads[{row.namespace_name, row.workload}][row.pod];
    pod.revision = revision;
    pod.first_ns = std::min(pod.first_ns, row.start_ns);
    pod.last_ns = std::max(pod.last_ns, row.end_ns());
  }
  std::vector<Rollout> rollouts;
  for (const auto& [workload, by_name] : workloads) {
    std::vector<Pod> pods;
    for (const auto& [name, pod] : by_name) pods.push_back(pod);
    AddRollouts(workload, std::move(pods), rollouts);
  }
  std::ranges::stable_sort(rollouts, {}, &Rollout::at_ns);
  return rollouts;
}

profile::Selector PodsOf(const profile::Selector& selector, std::string_view workload,
                         std::string_view revision) {
  // Names of objects have no other character that means something in an expression.
  std::string name;
  for (const char c : workload) name += c == '.' ? std::string("\\.") : std::string(1, c);
  Result<profile::Matcher> matcher = profile::Matcher::Create(
      "pod", profile::MatchOp::kRegex,
      fmt::format("{}-{}-[{}]{{{}}}", name, revision, kNameCharacters, kSuffix));
  CHECK(matcher);
  return selector.With(*std::move(matcher));
}

}  // namespace firetower::query
