// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/write_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "k8s/status/aggregate.h"

namespace firetower::k8s {
namespace {

using ::testing::Eq;
using ::testing::Optional;

constexpr int64_t kStart = 1000 * kNsPerSecond;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Writes whatever is due in each 100 ms, and says when.
std::vector<std::pair<int64_t, std::string>> Drain(WriteBudget& budget, int64_t from_ns,
                                                   int64_t to_ns) {
  std::vector<std::pair<int64_t, std::string>> writes;
  for (int64_t now = from_ns; now <= to_ns; now += 100 * kNsPerMs) {
    while (const std::optional<std::string> key = budget.Next(now)) {
      writes.emplace_back(now, *key);
      budget.Wrote(*key, now);
    }
  }
  return writes;
}

TEST(WriteBudget, WritesAGenerationAndItsSettlingAtOnce) {
  WriteBudget budget;
  EXPECT_EQ(budget.Next(kStart), std::nullopt);
  EXPECT_EQ(budget.NextDueNs(), kNever);
  budget.Want("a", StatusChange::kUrgent, kStart);
  EXPECT_THAT(budget.Next(kStart), Optional(Eq("a")));
  budget.Wrote("a", kStart);
  EXPECT_EQ(budget.Next(kStart), std::nullopt);
  budget.Want("a", StatusChange::kUrgent, kStart + 1);
  EXPECT_THAT(budget.Next(kStart + 1), Optional(Eq("a")));
}

TEST(WriteBudget, LeavesFiveSecondsBetweenOtherWritesOfAPolicy) {
  WriteBudget budget;
  budget.Want("a", StatusChange::kUrgent, kStart);
  budget.Wrote("a", kStart);
  budget.Want("a", StatusChange::kOrdinary, kStart + kNsPerSecond);
  EXPECT_EQ(budget.Next(kStart + 5 * kNsPerSecond - 1), std::nullopt);
  EXPECT_EQ(budget.NextDueNs(), kStart + 5 * kNsPerSecond);
  EXPECT_THAT(budget.Next(kStart + 5 * kNsPerSecond), Optional(Eq("a")));
}

TEST(WriteBudget, WritesPodCountsEveryFiveMinutes) {
  WriteBudget budget;
  budget.Want("a", StatusChange::kUrgent, kStart);
  budget.Wrote("a", kStart);
  budget.Want("a", StatusChange::kPodCounts, kStart + kNsPerSecond);
  EXPECT_EQ(budget.NextDueNs(), kStart + 300 * kNsPerSecond);
  // A wish that comes meanwhile does not wait for them.
  budget.Want("a", StatusChange::kOrdinary, kStart + 6 * kNsPerSecond);
  EXPECT_THAT(budget.Next(kStart + 6 * kNsPerSecond), Optional(Eq("a")));
  budget.Want("a", StatusChange::kNone, kStart + 6 * kNsPerSecond);
  EXPECT_EQ(budget.NextDueNs(), kNever);
}

TEST(WriteBudget, WritesTwoASecondInAll) {
  WriteBudget budget;
  for (int i = 0; i < 100; ++i) budget.Want(std::to_string(i), StatusChange::kOrdinary, kStart);
  const auto writes = Drain(budget, kStart, kStart + 20 * kNsPerSecond);
  EXPECT_EQ(writes.size(), 41u);
  for (size_t i = 1; i < writes.size(); ++i)
    EXPECT_GE(writes[i].first - writes[i - 1].first, 500 * kNsPerMs);
  std::set<std::string> who;
  for (const auto& [when, key] : writes) who.insert(key);
  EXPECT_EQ(who.size(), writes.size());
}

TEST(WriteBudget, ABurstOfEditsIsBoundedToo) {
  WriteBudget budget;
  for (int i = 0; i < 50; ++i) budget.Want(std::to_string(i), StatusChange::kUrgent, kStart);
  EXPECT_EQ(Drain(budget, kStart, kStart).size(), 11u);
  EXPECT_EQ(Drain(budget, kStart + 100 * kNsPerMs, kStart + 10 * kNsPerSecond).size(), 20u);
}

TEST(WriteBudget, UrgentOnesGoFirst) {
  WriteBudget budget;
  budget.Want("old", StatusChange::kOrdinary, kStart);
  budget.Want("new", StatusChange::kUrgent, kStart + 10);
  EXPECT_THAT(budget.Next(kStart + 10), Optional(Eq("new")));
  budget.Forget("new");
  EXPECT_THAT(budget.Next(kStart + 10), Optional(Eq("old")));
}

TEST(WriteBudget, AFailureWaitsAndCounts) {
  WriteBudget budget;
  budget.Want("a", StatusChange::kUrgent, kStart);
  budget.Defer("a", kStart, kStart + 3 * kNsPerSecond);
  budget.Want("a", StatusChange::kUrgent, kStart + kNsPerSecond);
  EXPECT_EQ(budget.NextDueNs(), kStart + 3 * kNsPerSecond);
}

PolicyStatus StatusWith(int64_t generation, std::string reason) {
  PolicyStatus status;
  status.observed_generation = generation;
  const bool programmed = reason == "Programmed";
  status.conditions.push_back({"Programmed",
                               programmed ? ConditionStatus::kTrue : ConditionStatus::kFalse,
                               std::move(reason), "m", generation, 0});
  return status;
}

TEST(StatusChange, TellsWhatIsUrgent) {
  const PolicyStatus reconciling = StatusWith(1, "Reconciling");
  const PolicyStatus programmed = StatusWith(1, "Programmed");
  EXPECT_EQ(ChangeOf(programmed, programmed), StatusChange::kNone);
  EXPECT_EQ(ChangeOf({}, reconciling), StatusChange::kUrgent);
  EXPECT_EQ(ChangeOf(reconciling, programmed), StatusChange::kUrgent);
  EXPECT_EQ(ChangeOf(programmed, StatusWith(2, "Reconciling")), StatusChange::kUrgent);
  EXPECT_EQ(ChangeOf(programmed, StatusWith(1, "PartiallyProgrammed")), StatusChange::kOrdinary);
  PolicyStatus pods = programmed;
  pods.pods_matched = 9;
  pods.conditions[0].message = "other";
  EXPECT_EQ(ChangeOf(programmed, pods), StatusChange::kPodCounts);
  pods.nodes.ready = 1;
  EXPECT_EQ(ChangeOf(programmed, pods), StatusChange::kOrdinary);
}

}  // namespace
}  // namespace firetower::k8s
