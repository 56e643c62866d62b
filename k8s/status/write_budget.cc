// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/write_budget.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace firetower::k8s {
namespace {

constexpr std::string_view kReconciling = "Reconciling";

// Without what moves all the time.
PolicyStatus Still(PolicyStatus status) {
  status.pods_matched = status.pods_profiled = 0;
  status.captures = 0;
  status.last_capture_ns = 0;
  for (Condition& condition : status.conditions) condition.message.clear();
  return status;
}

bool IsSettling(const PolicyStatus& written, const PolicyStatus& wanted) {
  const Condition* before = written.Find(kProgrammedCondition);
  const Condition* now = wanted.Find(kProgrammedCondition);
  return before != nullptr && now != nullptr && before->reason == kReconciling &&
         now->reason != kReconciling;
}

}  // namespace

StatusChange ChangeOf(const PolicyStatus& written, const PolicyStatus& wanted) {
  if (written == wanted) return StatusChange::kNone;
  if (written.observed_generation != wanted.observed_generation || IsSettling(written, wanted))
    return StatusChange::kUrgent;
  return Still(written) == Still(wanted) ? StatusChange::kPodCounts : StatusChange::kOrdinary;
}

void WriteBudget::Want(const std::string& key, StatusChange change, int64_t now_ns) {
  Entry& entry = entries_[key];
  if (entry.change == StatusChange::kNone) entry.since_ns = now_ns;
  entry.change = change;
}

int64_t WriteBudget::DueNs(const Entry& entry) const {
  if (entry.change == StatusChange::kNone) return std::numeric_limits<int64_t>::max();
  const bool urgent = entry.change == StatusChange::kUrgent;
  int64_t due_ns = urgent ? spent_until_ns_ - kBurst * kWriteNs : spent_until_ns_;
  due_ns = std::max({due_ns, entry.since_ns, entry.not_before_ns});
  if (urgent || !entry.written_ns) return due_ns;
  const bool counts = entry.change == StatusChange::kPodCounts;
  return std::max(due_ns, *entry.written_ns + (counts ? kPodCountsNs : kPolicyNs));
}

std::optional<std::string> WriteBudget::Next(int64_t now_ns) const {
  using Rank = std::tuple<int, int64_t>;
  std::optional<std::string> best;
  Rank best_rank;
  for (const auto& [key, entry] : entries_) {
    if (DueNs(entry) > now_ns) continue;
    const Rank rank{-static_cast<int>(entry.change), entry.since_ns};
    if (best && rank >= best_rank) continue;
    best = key;
    best_rank = rank;
  }
  return best;
}

int64_t WriteBudget::NextDueNs() const {
  int64_t next_ns = std::numeric_limits<int64_t>::max();
  for (const auto& [key, entry] : entries_) next_ns = std::min(next_ns, DueNs(entry));
  return next_ns;
}

void WriteBudget::Spend(int64_t now_ns) {
  spent_until_ns_ = std::max(spent_until_ns_, now_ns) + kWriteNs;
}

void WriteBudget::Wrote(const std::string& key, int64_t now_ns) {
  Entry& entry = entries_[key];
  entry.change = StatusChange::kNone;
  entry.written_ns = now_ns;
  entry.not_before_ns = 0;
  Spend(now_ns);
}

void WriteBudget::Defer(const std::string& key, int64_t now_ns, int64_t until_ns) {
  entries_[key].not_before_ns = until_ns;
  Spend(now_ns);
}

}  // namespace firetower::k8s
