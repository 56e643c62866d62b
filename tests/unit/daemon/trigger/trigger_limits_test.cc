// SPDX-License-Identifier: Apache-2.0
// How often a policy fires: reset, cooldown, and the captures of an hour.
#include <gmock/gmock.h>

#include "tests/unit/daemon/trigger/readings.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const auto kCart = PodContainer('a', '1');
const auto kProxy = PodContainer('a', '2');
const auto kOther = PodContainer('b', '3');

// Captures of 5 s; fires on one reading above 80 %.
std::string Trigger(const std::string& more) {
  return "rules: [" + CpuRule("hot", 80, 0) + "], " + more;
}

class TriggerLimitsTest : public TriggerTest {
 protected:
  // The CPU of kCart for one second each; the seconds on which something fired.
  std::vector<int64_t> Fired(const std::vector<double>& percents) {
    std::vector<int64_t> fired;
    for (const double percent : percents) {
      SetCpu(kCart, percent);
      for (const int64_t second : FiredIn(1)) fired.push_back(second);
    }
    return fired;
  }
};

TEST_F(TriggerLimitsTest, WhatNeverFallsFiresOnce) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 0, capture: {durationSeconds: 5}"))}, {kCart});
  SetCpu(kCart, 95);
  EXPECT_THAT(FiredIn(5000), ElementsAre(1));
}

TEST_F(TriggerLimitsTest, TheNextOneComesAfterAFallByResetPercent) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 0, resetPercent: 10, "
                                  "capture: {durationSeconds: 5}"))},
      {kCart});
  EXPECT_THAT(Fired({90, 90, 90, 90, 90, 90, 75, 90}), ElementsAre(1)) << "75 is above 72";
  EXPECT_EQ(SuppressedBy(Suppressed::kNotReset), 1u);
  EXPECT_THAT(Fired({72, 75, 90}), ElementsAre(11));
}

TEST_F(TriggerLimitsTest, ResetPercentZeroIsAnyFall) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 0, resetPercent: 0, "
                                  "capture: {durationSeconds: 5}"))},
      {kCart});
  EXPECT_THAT(Fired({90, 90, 90, 90, 90, 80, 81}), ElementsAre(1, 7));
}

TEST_F(TriggerLimitsTest, LessThanResetsAboveItsThreshold) {
  Arm({TriggerPolicy("p",
                     "rules: [{name: idle, metric: ContainerCPU, operator: LessThan, target: "
                     "{type: Utilization, utilizationPercent: 20}, forSeconds: 0}], "
                     "cooldownSeconds: 0, resetPercent: 50, capture: {durationSeconds: 5}")},
      {kCart});
  EXPECT_THAT(Fired({10, 10, 10, 10, 10, 29, 10}), ElementsAre(1)) << "30 is 20 + 50 %";
  EXPECT_THAT(Fired({30, 10}), ElementsAre(9));
}

TEST_F(TriggerLimitsTest, AMissingReadingDoesNotReset) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 0, capture: {durationSeconds: 5}"))}, {kCart});
  EXPECT_THAT(Fired({90}), ElementsAre(1));
  SetCpu(kCart, std::nullopt);
  EXPECT_THAT(FiredIn(20), IsEmpty());
  SetCpu(kCart, 90);
  EXPECT_THAT(FiredIn(20), IsEmpty());
}

TEST_F(TriggerLimitsTest, CooldownCountsFromTheEndOfTheCapture) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 10, capture: {durationSeconds: 5}"))}, {kCart});
  // Fired at 1: the capture runs to 6, the cooldown to 16.
  EXPECT_THAT(Fired({90, 10, 10, 10, 10, 10, 10, 10, 10}), ElementsAre(1));
  EXPECT_THAT(Fired({90, 10}), IsEmpty());
  EXPECT_EQ(SuppressedBy(Suppressed::kCooldown), 1u);
  EXPECT_THAT(Fired({10, 10, 10, 10, 90}), ElementsAre(16));
}

TEST_F(TriggerLimitsTest, WhatStillHoldsWhenTheCooldownEndsFiresThen) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 10, capture: {durationSeconds: 5}"))}, {kCart});
  EXPECT_THAT(Fired({90, 10, 10, 10, 10, 10, 10}), ElementsAre(1));
  SetCpu(kCart, 90);
  EXPECT_THAT(FiredIn(30), ElementsAre(16));
  EXPECT_EQ(SuppressedBy(Suppressed::kCooldown), 1u) << "once for each time it began";
}

TEST_F(TriggerLimitsTest, WhatBeginsInACaptureIsInIt) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 3, capture: {durationSeconds: 5}"))},
      {kCart, kProxy});
  SetCpu(kProxy, 10);
  EXPECT_THAT(Fired({90, 90}), ElementsAre(1));
  SetCpu(kProxy, 90);
  EXPECT_THAT(FiredIn(60), IsEmpty()) << "the same pod";
  EXPECT_EQ(SuppressedBy(Suppressed::kCaptureRunning), 1u);
}

TEST_F(TriggerLimitsTest, CooldownIsOfASubject) {
  const auto pods = TriggerPolicy("p", Trigger("cooldownSeconds: 60"));
  const auto containers =
      TriggerPolicy("c", Trigger("cooldownSeconds: 60, capture: {scope: Container}"));
  Arm({pods, containers}, {kCart, kProxy, kOther});
  EXPECT_THAT(Fired({90}), ElementsAre(1, 1));
  SetCpu(kProxy, 90);
  EXPECT_THAT(FiredIn(1), ElementsAre(2)) << "another container of the same pod";
  SetCpu(kOther, 90);
  EXPECT_THAT(FiredIn(1), ElementsAre(3, 3));
}

TEST_F(TriggerLimitsTest, ScopeNodeIsOneSubject) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 60, capture: {scope: Node}"),
                     "ClusterProfilingPolicy")},
      {kCart, kOther});
  SetCpu(kOther, 10);
  EXPECT_THAT(Fired({90}), ElementsAre(1));
  SetCpu(kOther, 90);
  EXPECT_THAT(FiredIn(1), IsEmpty());
}

TEST_F(TriggerLimitsTest, NeverMoreThanTheCapInAnyHour) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 0, resetPercent: 0, maxCapturesPerHour: 3, "
                                  "capture: {durationSeconds: 5}"))},
      {kCart});
  std::vector<int64_t> fired;
  for (int i = 0; i < 3 * 3600 / 10; ++i) {
    for (const int64_t second : Fired({90, 10, 10, 10, 10, 10, 10, 10, 10, 10}))
      fired.push_back(second);
  }
  // One every 10 s, three of them in each hour: 1, 11, 21, and an hour after each.
  EXPECT_THAT(fired, ElementsAre(1, 11, 21, 3601, 3611, 3621, 7201, 7211, 7221));
  EXPECT_EQ(SuppressedBy(Suppressed::kHourlyCap), 3u * 360 - 9);
}

TEST_F(TriggerLimitsTest, TheCapIsOfThePolicyNotOfASubject) {
  Arm({TriggerPolicy("p", Trigger("maxCapturesPerHour: 2, capture: {scope: Container}"))},
      {kCart, kProxy, kOther});
  for (const auto& container : {kCart, kProxy, kOther}) SetCpu(container, 90);
  EXPECT_THAT(FiredIn(3600), ElementsAre(1, 1));
  EXPECT_EQ(SuppressedBy(Suppressed::kHourlyCap), 1u);
  EXPECT_THAT(FiredIn(1), ElementsAre(3601)) << "it holds still, and the hour has room";
}

TEST_F(TriggerLimitsTest, AnotherGenerationStartsAnewButForItsHour) {
  const auto first = TriggerPolicy("p", Trigger("cooldownSeconds: 3600, maxCapturesPerHour: 2"));
  k8s::ProfilingPolicy changed = *first;
  changed.generation = 2;
  Arm({first}, {kCart});
  SetCpu(kCart, 90);
  EXPECT_THAT(FiredIn(10), ElementsAre(1));
  Arm({first}, {kCart});
  EXPECT_THAT(FiredIn(10), IsEmpty()) << "the same again";
  const auto second = std::make_shared<const k8s::ProfilingPolicy>(changed);
  Arm({second}, {kCart});
  EXPECT_THAT(FiredIn(10), ElementsAre(21));
  changed.generation = 3;
  const auto third = std::make_shared<const k8s::ProfilingPolicy>(changed);
  Arm({}, {});
  EXPECT_THAT(FiredIn(10), IsEmpty());
  Arm({third}, {kCart});
  EXPECT_THAT(FiredIn(3560), IsEmpty()) << "two in this hour, also after it was away";
  EXPECT_THAT(FiredIn(100), ElementsAre(3601));
  EXPECT_EQ(counted_.captures, 3u);
}

// Deleted and applied again, it would be free of its cap otherwise.
TEST_F(TriggerLimitsTest, AnotherOneOfItsNameHasItsHour) {
  k8s::ProfilingPolicy policy =
      *TriggerPolicy("p", Trigger("cooldownSeconds: 0, maxCapturesPerHour: 2"));
  SetCpu(kCart, 90);
  std::vector<int64_t> fired;
  for (const char* uid : {"a", "b", "c"}) {
    policy.uid = uid;
    Arm({std::make_shared<const k8s::ProfilingPolicy>(policy)}, {kCart});
    for (const int64_t second : FiredIn(20)) fired.push_back(second);
    Arm({}, {});
    FiredIn(10);
  }
  EXPECT_THAT(fired, ElementsAre(1, 31));
}

TEST_F(TriggerLimitsTest, WhatWasCapturedBeforeTheProcessCounts) {
  second_ = 4000;
  triggers_.Remember("ProfilingPolicy default/p", {500 * kNsPerSecond, 600 * kNsPerSecond});
  Arm({TriggerPolicy("p", Trigger("maxCapturesPerHour: 2")),
       TriggerPolicy("q", Trigger("maxCapturesPerHour: 2"))},
      {kCart});
  SetCpu(kCart, 90);
  EXPECT_THAT(FiredIn(50), ElementsAre(4001)) << "the other one, at once";
  EXPECT_THAT(FiredIn(100), ElementsAre(4100)) << "an hour after 500";
}

// Other parts of a file do not change when it fires, only the use of a capture.
TEST_F(TriggerLimitsTest, AnEditOfAFileBesideItsTriggerArrivesAndKeepsItsState) {
  const auto first = TriggerPolicy("p", Trigger("cooldownSeconds: 10, maxCapturesPerHour: 2, "
                                                "capture: {durationSeconds: 5}"));
  k8s::ProfilingPolicy changed = *first;
  changed.spec.export_spec.object_store.retention_class = k8s::RetentionClass::kLong;
  const auto second = std::make_shared<const k8s::ProfilingPolicy>(changed);
  Arm({first}, {kCart});
  EXPECT_THAT(Fired({90, 10}), ElementsAre(1));
  Arm({second}, {kCart});
  // Fired at 1: the capture runs to 6, the cooldown to 16.
  EXPECT_THAT(Fired({10, 10, 10, 10, 90, 90}), IsEmpty()) << "the cooldown goes on";
  SetCpu(kCart, 90);
  second_ = 15;
  const std::vector<Firing> firings = Second();
  ASSERT_EQ(firings.size(), 1u);
  EXPECT_EQ(firings[0].policy, second);
  EXPECT_THAT(Fired(std::vector<double>(30, 10)), IsEmpty());
  EXPECT_THAT(Fired({90}), IsEmpty()) << "two in this hour, one before the edit";
  EXPECT_EQ(SuppressedBy(Suppressed::kHourlyCap), 1u);
}

TEST_F(TriggerLimitsTest, AFileThatChangesItsTriggerIsAnotherGeneration) {
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 600"))}, {kCart});
  SetCpu(kCart, 90);
  EXPECT_THAT(FiredIn(2), ElementsAre(1));
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 600"))}, {kCart});
  EXPECT_THAT(FiredIn(2), IsEmpty()) << "read again, and the same";
  Arm({TriggerPolicy("p", Trigger("cooldownSeconds: 700"))}, {kCart});
  EXPECT_THAT(FiredIn(2), ElementsAre(5));
}

}  // namespace
}  // namespace firetower::daemon
