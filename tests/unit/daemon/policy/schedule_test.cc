// SPDX-License-Identifier: Apache-2.0
// When policies are in force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "daemon/policy/policy_selection.h"
#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kSecond = kNsPerSecond;
// 2026-11-21T06:00:00Z, a multiple of five minutes.
constexpr int64_t kSix = 1795240800 * kSecond;

PolicySchedule ScheduleOf(const std::string& spec, int64_t since_ns = 0) {
  return {Loaded(Document("p", spec), since_ns), 97};
}

bool On(const PolicySchedule& schedule, int64_t wall_ns) {
  return schedule.At(wall_ns)->Decide(PodContainer("89abc", 'a')).sampled;
}

TEST(PolicySchedule, GoesOnAndOffOnMultiplesOfTheWallClock) {
  PolicySchedule schedule = ScheduleOf("mode: General, " + kAllPods +
                                       ", general: {periodSeconds: 300, durationSeconds: 60}");
  EXPECT_FALSE(On(schedule, kSix - 1));
  EXPECT_TRUE(On(schedule, kSix));
  EXPECT_TRUE(On(schedule, kSix + 60 * kSecond - 1));
  EXPECT_FALSE(On(schedule, kSix + 60 * kSecond));
  EXPECT_TRUE(On(schedule, kSix + 300 * kSecond));
  EXPECT_EQ(schedule.NextChange(kSix), kSix + 60 * kSecond);
  EXPECT_EQ(schedule.NextChange(kSix + 60 * kSecond - 1), kSix + 60 * kSecond);
  EXPECT_EQ(schedule.NextChange(kSix + 60 * kSecond), kSix + 300 * kSecond);
  EXPECT_EQ(schedule.NextChange(kSix - 1), kSix);
}

TEST(PolicySchedule, AgreesWithItselfAboutEveryChange) {
  PolicySchedule schedule = ScheduleOf("mode: General, " + kAllPods +
                                       ", general: {periodSeconds: 420, durationSeconds: 90}");
  int64_t now = kSix + 17 * kSecond;
  for (int i = 0; i < 20; ++i) {
    std::optional<int64_t> next = schedule.NextChange(now);
    ASSERT_TRUE(next);
    ASSERT_GT(*next, now);
    EXPECT_EQ(On(schedule, *next - 1), On(schedule, now));
    EXPECT_NE(On(schedule, *next), On(schedule, now));
    now = *next;
  }
}

TEST(PolicySchedule, NeverChangesWhenContinuous) {
  PolicySchedule schedule = ScheduleOf("mode: General, " + kContinuous + kAllPods);
  EXPECT_TRUE(On(schedule, kSix + 123 * kSecond));
  EXPECT_EQ(schedule.NextChange(kSix), std::nullopt);
}

TEST(PolicySchedule, IsOffWhileSuspended) {
  PolicySchedule schedule = ScheduleOf("mode: General, suspend: true, " + kAllPods +
                                       ", general: {periodSeconds: 300, durationSeconds: 60}");
  EXPECT_FALSE(On(schedule, kSix));
  EXPECT_EQ(schedule.NextChange(kSix), std::nullopt);
}

TEST(PolicySchedule, EndsAtItsDeadline) {
  PolicySchedule schedule =
      ScheduleOf("mode: General, activeDeadlineSeconds: 600, " + kContinuous + kAllPods, kSix);
  EXPECT_TRUE(On(schedule, kSix));
  EXPECT_EQ(schedule.NextChange(kSix), kSix + 600 * kSecond);
  EXPECT_TRUE(On(schedule, kSix + 600 * kSecond - 1));
  EXPECT_FALSE(On(schedule, kSix + 600 * kSecond));
  EXPECT_EQ(schedule.NextChange(kSix + 600 * kSecond), std::nullopt);
}

TEST(PolicySchedule, AnswersForTheNextOfSeveral) {
  std::string two =
      Document("a", "mode: General, " + kAllPods +
                        ", general: {periodSeconds: 600, durationSeconds: 300}") +
      Document("b", "mode: General, activeDeadlineSeconds: 120, " + kContinuous + kAllPods);
  PolicySchedule schedule(Loaded(two, kSix), 97);
  EXPECT_EQ(schedule.NextChange(kSix), kSix + 120 * kSecond);
  EXPECT_EQ(schedule.NextChange(kSix + 120 * kSecond), kSix + 300 * kSecond);
}

TEST(PolicySchedule, TriggersAreArmedAllTheTime) {
  PolicySchedule schedule = ScheduleOf(
      "mode: Trigger, targets: {podSelector: {matchLabels: {}}}, trigger: {rules: [{name: busy, "
      "metric: ContainerCPU, operator: GreaterThan, target: {type: Utilization, "
      "utilizationPercent: 80}}]}");
  EXPECT_TRUE(On(schedule, kSix));
  EXPECT_EQ(schedule.NextChange(kSix), std::nullopt);
  EXPECT_THAT(schedule.Warnings(), IsEmpty());
}

TEST(PolicySchedule, FiltersAreContinuous) {
  PolicySchedule schedule =
      ScheduleOf("mode: Filter, targets: {podSelector: {matchLabels: {}}}, filter: {cpus: \"1\"}");
  EXPECT_TRUE(On(schedule, kSix));
  EXPECT_EQ(schedule.NextChange(kSix), std::nullopt);
  std::optional<CpuSet> cpus = schedule.At(kSix)->cpus();
  ASSERT_TRUE(cpus);
  EXPECT_EQ(*cpus, CpuSet(2));
  EXPECT_TRUE(schedule.Warnings().empty());
}

TEST(PolicySchedule, WithoutAPolicyInForceNoCpuIsWanted) {
  PolicySchedule schedule =
      ScheduleOf("mode: General, suspend: true, targets: {podSelector: {matchLabels: {}}}");
  std::optional<CpuSet> cpus = schedule.At(kSix)->cpus();
  ASSERT_TRUE(cpus);
  EXPECT_TRUE(cpus->none());
}

TEST(PolicySchedule, AListOfCpusThatIsNoneIsSaid) {
  PolicySchedule schedule =
      ScheduleOf("mode: Filter, targets: {podSelector: {matchLabels: {}}}, filter: {cpus: 8-3}");
  std::vector<std::string> warnings = schedule.Warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("filter.cpus"));
}

}  // namespace
}  // namespace firetower::daemon
