// SPDX-License-Identifier: Apache-2.0
#include "query/rollouts/rollouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace firetower::query {
namespace {

constexpr std::string_view kNameCharacters = "bcdfghjklmnpqrstvwxz2456789";
constexpr size_t kSuffix = 5, kMaxRevision = 10;

bool HasOnly(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == text.npos;
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

void RolloutFinder::AddRollouts(const Workload& workload, const Pods& pods,
                                std::vector<Rollout>& to) {
  std::vector<const Pod*> by_time;
  for (const auto& [name, pod] : pods) by_time.push_back(&pod);
  std::ranges::sort(by_time, {},
                    [](const Pod* pod) { return std::tie(pod->first_ns, pod->revision); });
  // When each revision was there last, of the pods up to the one in hand.
  std::map<std::string_view, int64_t> there_until;
  const Pod* last = nullptr;
  for (const Pod* pod : by_time) {
    int64_t& until_ns = there_until[pod->revision];
    // One that is there besides only has another pod.
    if (last != nullptr && last->revision != pod->revision && until_ns < pod->first_ns) {
      to.push_back({workload.first, workload.second, last->revision, pod->revision, pod->first_ns});
    }
    until_ns = std::max(until_ns, pod->last_ns);
    last = pod;
  }
}

void RolloutFinder::Add(const store::CatalogRow& row) {
  const std::string_view revision = RevisionOf(row.workload, row.pod);
  if (revision.empty()) return;
  const auto [at, is_new] =
      workloads_[{row.namespace_name, row.workload}].try_emplace(row.pod, Pod{});
  Pod& pod = at->second;
  if (is_new) pod = {std::string(revision), row.start_ns, row.end_ns()};
  pod.first_ns = std::min(pod.first_ns, row.start_ns);
  pod.last_ns = std::max(pod.last_ns, row.end_ns());
}

void RolloutFinder::Forget(int64_t before_ns) {
  for (auto& [workload, pods] : workloads_)
    std::erase_if(pods, [&](const auto& pod) { return pod.second.last_ns < before_ns; });
  std::erase_if(workloads_, [](const auto& workload) { return workload.second.empty(); });
}

std::vector<Rollout> RolloutFinder::Find() const {
  std::vector<Rollout> rollouts;
  for (const auto& [workload, pods] : workloads_) AddRollouts(workload, pods, rollouts);
  std::ranges::stable_sort(rollouts, {}, &Rollout::at_ns);
  return rollouts;
}

size_t RolloutFinder::pods() const {
  size_t count = 0;
  for (const auto& [workload, pods] : workloads_) count += pods.size();
  return count;
}

std::vector<Rollout> FindRollouts(std::span<const store::CatalogRow> rows) {
  RolloutFinder finder;
  for (const store::CatalogRow& row : rows) finder.Add(row);
  return finder.Find();
}

RolloutRanges RangesOf(const Rollout& rollout, int64_t from_ns, int64_t to_ns) {
  const TimeRange after{std::max(from_ns, rollout.at_ns), to_ns};
  return {{rollout.at_ns - (after.to_ns - after.from_ns), rollout.at_ns}, after};
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
