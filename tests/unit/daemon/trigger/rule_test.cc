// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNothing = NAN;

k8s::TriggerRule RuleOf(k8s::Operator op, int64_t percent, int64_t for_seconds) {
  k8s::TriggerRule rule;
  rule.metric = k8s::Metric::kContainerCpu;
  rule.op = op;
  rule.target = k8s::TriggerTarget{k8s::TargetType::kUtilization, percent, std::nullopt};
  rule.for_seconds = for_seconds;
  return rule;
}

// Readings of second 1, 2, …, each the mean since the one before it, as a counter gives them. The
// seconds at which the rule holds.
std::vector<int> HoldsAt(const k8s::TriggerRule& spec, const std::vector<double>& readings) {
  const Rule rule(spec, 10);
  RuleState state;
  std::vector<int> holds;
  int64_t last_ns = 0;
  for (size_t i = 0; i < readings.size(); ++i) {
    const int64_t now_ns = static_cast<int64_t>(i + 1) * kNsPerSecond;
    MetricReading reading{NoReading::kNone, readings[i], 0, last_ns, now_ns};
    if (std::isnan(readings[i])) {
      reading.missing = NoReading::kUnreadable;
    } else {
      last_ns = now_ns;
    }
    state.Update(rule, reading);
    if (state.holds()) holds.push_back(static_cast<int>(i + 1));
  }
  return holds;
}

TEST(RuleState, HoldsWhenItDidSoForAllOfForSeconds) {
  const k8s::TriggerRule rule = RuleOf(k8s::Operator::kGreaterThan, 80, 3);
  EXPECT_THAT(HoldsAt(rule, {90, 90, 90, 90, 10}), ElementsAre(3, 4));
  EXPECT_THAT(HoldsAt(rule, {90, 90, 70, 90, 90, 90}), ElementsAre(6));
  EXPECT_THAT(HoldsAt(rule, {90, 90}), IsEmpty());
}

TEST(RuleState, WithoutForSecondsOneReadingIsEnough) {
  EXPECT_THAT(HoldsAt(RuleOf(k8s::Operator::kGreaterThan, 80, 0), {81, 79, 81}), ElementsAre(1, 3));
}

TEST(RuleState, TheThresholdItselfIsOnNeitherSide) {
  EXPECT_THAT(HoldsAt(RuleOf(k8s::Operator::kGreaterThan, 80, 0), {80, 80.1}), ElementsAre(2));
  EXPECT_THAT(HoldsAt(RuleOf(k8s::Operator::kLessThan, 80, 0), {80, 79.9}), ElementsAre(2));
}

TEST(RuleState, AMissingReadingNeitherProvesNorEnds) {
  const k8s::TriggerRule rule = RuleOf(k8s::Operator::kGreaterThan, 80, 3);
  EXPECT_THAT(HoldsAt(rule, {90, kNothing, kNothing, 90}), ElementsAre(4)) << "not at 3";
  EXPECT_THAT(HoldsAt(rule, {90, kNothing, 70, 90, 90, 90}), ElementsAre(6));
}

TEST(RuleState, AfterALongGapTheTimeCountsAnew) {
  std::vector<double> readings(10, kNothing);
  readings[0] = 90;
  for (int i = 0; i < 4; ++i) readings.push_back(90);
  EXPECT_THAT(HoldsAt(RuleOf(k8s::Operator::kGreaterThan, 80, 3), readings), ElementsAre(14))
      << "second 11 ends the gap";
}

TEST(RuleState, AMeanOverALongTimeIsOneReading) {
  const Rule rule(RuleOf(k8s::Operator::kGreaterThan, 80, 3), 10);
  RuleState state;
  state.Update(rule, {NoReading::kNone, 90, 0, 0, 60 * kNsPerSecond});
  EXPECT_FALSE(state.holds()) << "it may have been 180 % of half of it";
  state.Update(rule, {NoReading::kNone, 90, 0, 60 * kNsPerSecond, 63 * kNsPerSecond});
  EXPECT_TRUE(state.holds());
}

TEST(Rule, ResetsBeyondTheThresholdByPercent) {
  const Rule greater(RuleOf(k8s::Operator::kGreaterThan, 80, 0), 10);
  EXPECT_FALSE(greater.Resets(72.1));
  EXPECT_TRUE(greater.Resets(72));
  const Rule less(RuleOf(k8s::Operator::kLessThan, 80, 0), 10);
  EXPECT_FALSE(less.Resets(87.9));
  EXPECT_TRUE(less.Resets(88));
  const Rule at_once(RuleOf(k8s::Operator::kGreaterThan, 80, 0), 0);
  EXPECT_TRUE(at_once.Resets(80));
  EXPECT_FALSE(at_once.Resets(80.1));
}

TEST(Rule, TakesTheNumberThatItsTargetIsIn) {
  k8s::TriggerRule spec = RuleOf(k8s::Operator::kGreaterThan, 80, 0);
  const MetricReading reading{NoReading::kNone, 55, 1.75, 0, 1};
  EXPECT_EQ(Rule(spec, 10).Number(reading), 55);
  spec.target =
      k8s::TriggerTarget{k8s::TargetType::kValue, std::nullopt, k8s::Quantity{1, 500000000}};
  const Rule rule(spec, 10);
  EXPECT_EQ(rule.Number(reading), 1.75);
  EXPECT_EQ(rule.threshold, 1.5);
  EXPECT_DOUBLE_EQ(rule.reset_level, 1.35);
}

TEST(Rule, HoldsForFifteenSecondsUnlessToldOtherwise) {
  k8s::TriggerRule spec = RuleOf(k8s::Operator::kGreaterThan, 80, 0);
  spec.for_seconds.reset();
  EXPECT_EQ(Rule(spec, 10).for_ns, 15 * kNsPerSecond);
}

}  // namespace
}  // namespace firetower::daemon
