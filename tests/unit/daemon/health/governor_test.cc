// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/governor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kFiveSeconds = 5'000'000'000;

GovernedPolicy Policy(const std::string& key, int64_t priority, uint32_t hertz, double cores) {
  return {key, priority, hertz, cores};
}

std::vector<uint32_t> Rates(const std::vector<GovernedRate>& rates) {
  std::vector<uint32_t> hertz;
  for (const GovernedRate& rate : rates) hertz.push_back(rate.frequency_hz);
  return hertz;
}

// A daemon whose cost follows its rates, plus a fixed cost.
class GovernorTest : public ::testing::Test {
 protected:
  std::vector<uint32_t> Step(double cores, int64_t bytes = 0) {
    return Rates(governor_.Step(policies_, {cores, bytes, 100}, kFiveSeconds));
  }
  // `each`: cores for one Hertz of one policy.
  std::vector<uint32_t> Run(int steps, double fixed, double each) {
    std::vector<uint32_t> rates;
    for (int i = 0; i < steps; ++i) {
      double sum = 0;
      for (const uint32_t rate : last_) sum += rate;
      rates = last_ = Step(fixed + sum * each);
    }
    return rates;
  }

  Governor governor_;
  std::vector<GovernedPolicy> policies_;
  std::vector<uint32_t> last_;
};

TEST_F(GovernorTest, WithinTheBudgetAllGetWhatTheyAskFor) {
  policies_ = {Policy("a", 0, 97, 0.05), Policy("b", 5, 49, 0.02)};
  EXPECT_THAT(Step(0.07), ElementsAre(97, 49));
  EXPECT_DOUBLE_EQ(governor_.budget_cores(), 0.07);
  EXPECT_EQ(governor_.state(), BudgetState::kWithin);
  EXPECT_FALSE(governor_.lowered());
}

TEST_F(GovernorTest, OneReadingOverIsNoReason) {
  policies_ = {Policy("a", 0, 96, 0.05)};
  EXPECT_THAT(Step(0.5), ElementsAre(96));
  EXPECT_EQ(governor_.state(), BudgetState::kOverCpu);
  EXPECT_THAT(Step(0.01), ElementsAre(96));
  EXPECT_THAT(Step(0.5), ElementsAre(96));
}

TEST_F(GovernorTest, HalvesTheLowestPriorityFirst) {
  policies_ = {Policy("high", 9, 64, 0.05), Policy("low", 1, 64, 0.05)};
  Step(0.12);
  EXPECT_THAT(Step(0.12), ElementsAre(64, 32)) << "96 of 128 Hz is 0.09";
  EXPECT_TRUE(governor_.lowered());
  EXPECT_EQ(governor_.steps_down(), 1u);
  EXPECT_THAT(Step(0.2), ElementsAre(32, 1)) << "33 of 96 Hz is 0.069";
}

TEST_F(GovernorTest, LowersSoFarThatTheCostShouldFit) {
  policies_ = {Policy("a", 0, 100, 0.05)};
  Step(0.45);
  EXPECT_THAT(Step(0.45), ElementsAre(6)) << "100, 50, 25, 12 and 6 Hz: 0.027 cores";
}

TEST_F(GovernorTest, DropsOnlyWhenAllAreAtOneHertz) {
  policies_ = {Policy("a", 0, 4, 0.001), Policy("b", 1, 4, 0.001)};
  Step(1);
  EXPECT_THAT(Step(1), ElementsAre(0, 0));
  Governor anew;
  anew.Step(policies_, {0.005, 0, 0}, kFiveSeconds);
  EXPECT_THAT(Rates(anew.Step(policies_, {0.005, 0, 0}, kFiveSeconds)), ElementsAre(1, 2))
      << "3 of 8 Hz is 0.0019";
  EXPECT_THAT(Rates(anew.Step(policies_, {0.005, 0, 0}, kFiveSeconds)), ElementsAre(0, 1))
      << "1 of 3 Hz is 0.0017";
}

TEST_F(GovernorTest, ComesBackWhenTheLoadIsGone) {
  policies_ = {Policy("high", 9, 64, 0.05), Policy("low", 1, 64, 0.05)};
  last_ = {64, 64};
  Run(3, 0, 0.01);  // 128 Hz cost 1.28 cores
  EXPECT_LE(last_[0] + last_[1], 10u);
  EXPECT_THAT(Run(200, 0, 0.0001), ElementsAre(64, 64));
  EXPECT_FALSE(governor_.lowered());
}

TEST_F(GovernorTest, RisesTheOtherWayRound) {
  policies_ = {Policy("high", 9, 2, 0.05), Policy("low", 1, 2, 0.05)};
  Step(9);
  EXPECT_THAT(Step(9), ElementsAre(0, 0));
  // A step each half minute, that is on every sixth reading.
  std::vector<std::vector<uint32_t>> seen;
  for (int step = 0; step < 24; ++step) {
    const std::vector<uint32_t> rates = Step(0.001);
    if (step % 6 == 5) seen.push_back(rates);
  }
  EXPECT_THAT(seen, ElementsAre(ElementsAre(1, 0), ElementsAre(1, 1), ElementsAre(2, 1),
                                ElementsAre(2, 2)));
}

TEST_F(GovernorTest, WaitsLongerEachTimeARiseWasTooMuch) {
  policies_ = {Policy("a", 0, 64, 0.05)};
  last_ = {64};
  // 64 Hz cost 0.064 cores, 32 Hz 0.032, below 70 % of the budget: it would go up and down for
  // ever.
  std::vector<int> rose;
  uint32_t before = 64;
  for (int step = 0; step < 3000; ++step) {
    const uint32_t now = Run(1, 0, 0.001)[0];
    if (now > before) rose.push_back(step);
    before = now;
  }
  ASSERT_GE(rose.size(), 6u);
  for (size_t i = 2; i < 5; ++i) {
    EXPECT_GT(rose[i] - rose[i - 1], (rose[i - 1] - rose[i - 2]) * 3 / 2) << i;
  }
  EXPECT_LE(rose.size(), 3000 * 5 / 900 + 6) << "at most once in 15 minutes in the end";
}

TEST_F(GovernorTest, WhatTheRatesDoNotCostNeedNotStopThem) {
  policies_ = {Policy("a", 0, 64, 0.05)};
  last_ = {64};
  Run(10, 0.06, 0);
  EXPECT_EQ(last_[0], 0u) << "nothing helps";
  EXPECT_THAT(Run(200, 0.03, 0.00001), ElementsAre(64));
}

TEST_F(GovernorTest, MemoryLowersStepByStep) {
  policies_ = {Policy("a", 0, 64, 0.05)};
  Step(0.01, 101);
  EXPECT_EQ(governor_.state(), BudgetState::kOverMemory);
  EXPECT_THAT(Step(0.01, 101), ElementsAre(32));
  EXPECT_THAT(Step(0.01, 101), ElementsAre(16));
  EXPECT_THAT(Step(0.01, 100), ElementsAre(16));
  EXPECT_EQ(governor_.state(), BudgetState::kWithin);
}

TEST_F(GovernorTest, APolicyWithoutALimitIsLetBe) {
  policies_ = {Policy("a", 0, 64, 0), Policy("b", 1, 64, 0.1)};
  Step(0.3);
  EXPECT_THAT(Step(0.3), ElementsAre(64, 32)) << "half of it is its own: 0.15, then 0.075";
  EXPECT_DOUBLE_EQ(governor_.budget_cores(), 0.1);
}

// The cost of a daemon that samples nothing does not tell the cost of sampling.
TEST_F(GovernorTest, WhoWasDroppedForASpikeComesBack) {
  policies_ = {Policy("a", 0, 4, 0.01)};
  Step(9);
  ASSERT_THAT(Step(9), ElementsAre(0));
  for (int i = 0; i < 200; ++i) Step(0.009);
  EXPECT_THAT(Step(0.009), ElementsAre(testing::Ge(1)));
}

TEST_F(GovernorTest, WithoutLimitsOnlyMemoryBounds) {
  policies_ = {Policy("a", 0, 64, 0)};
  Step(3);
  EXPECT_THAT(Step(3), ElementsAre(64));
  Step(3, 101);
  EXPECT_THAT(Step(3, 101), ElementsAre(32));
}

TEST_F(GovernorTest, WithoutPoliciesThereIsNoBudget) {
  EXPECT_THAT(Step(3), ElementsAre());
  EXPECT_EQ(governor_.state(), BudgetState::kWithin);
}

TEST_F(GovernorTest, ANewPolicyStartsUnlowered) {
  policies_ = {Policy("a", 0, 64, 0.05)};
  Step(0.09);
  EXPECT_THAT(Step(0.09), ElementsAre(32));
  policies_.push_back(Policy("b", 0, 10, 0.05));
  EXPECT_THAT(Step(0.09), ElementsAre(32, 10));
  policies_.erase(policies_.begin());
  Step(0.01);
  policies_.push_back(Policy("a", 0, 64, 0.05));
  EXPECT_THAT(Step(0.01), ElementsAre(10, 64)) << "it was away";
}

// A periodic policy comes back for the next period as it left: else each would begin over the
// budget.
TEST_F(GovernorTest, KeepsTheLevelOfWhatPauses) {
  policies_ = {Policy("a", 0, 96, 0.05), Policy("b", 5, 0, 0)};
  Step(0.1);
  ASSERT_THAT(Step(0.1), ElementsAre(48, 0));
  policies_[0].frequency_hz = 0;
  policies_[0].limit_cores = 0;
  policies_[1] = Policy("b", 5, 48, 0.05);
  for (int i = 0; i < 100; ++i) Step(0.01);
  policies_[0] = Policy("a", 0, 96, 0.05);
  EXPECT_THAT(Step(0.04), ElementsAre(48, 48));
  policies_[0].frequency_hz = 0;
  for (int i = 0; i < 200; ++i) Step(0.01);
  policies_[0].frequency_hz = 96;
  EXPECT_THAT(Step(0.04), ElementsAre(96, 48)) << "there was room for a quarter of an hour";
}

// Else each period of a policy that is too dear would have its rise, and none be waited for longer.
TEST_F(GovernorTest, APauseIsNoTrialOfARise) {
  policies_ = {Policy("a", 0, 96, 0.05)};
  Step(0.1);
  ASSERT_THAT(Step(0.1), ElementsAre(48));
  int steps = 1;
  while (Step(0.02)[0] == 48) ASSERT_LT(++steps, 100);
  EXPECT_EQ(steps, 6) << "30 s";
  Step(0.1);
  ASSERT_THAT(Step(0.1), ElementsAre(48)) << "that was too much";
  policies_[0].frequency_hz = 0;
  for (int i = 0; i < 50; ++i) Step(0);
  policies_[0].frequency_hz = 96;
  for (steps = 1; Step(0.02)[0] == 48; ++steps) ASSERT_LT(steps, 100);
  EXPECT_EQ(steps, 12) << "60 s";
}

// It asks for nothing because it is dropped: that must not keep it so.
TEST_F(GovernorTest, WhatWasDroppedComesBackThoughItAsksForNothing) {
  policies_ = {Policy("a", 0, 1, 0.05)};
  Step(0.1);
  ASSERT_THAT(Step(0.1), ElementsAre(0));
  policies_[0].frequency_hz = 0;
  for (int i = 0; i < 7; ++i) Step(0);
  policies_[0].frequency_hz = 1;
  EXPECT_THAT(Step(0), ElementsAre(1));
}

TEST_F(GovernorTest, AnOddRateFallsToOneHertzAndNotBelow) {
  policies_ = {Policy("a", 0, 3, 0.05)};
  const auto rates = governor_.Step(policies_, {0, 0, 0}, kFiveSeconds);
  EXPECT_EQ(rates[0].factor, 1);
  Step(0.06);
  EXPECT_THAT(Step(0.06), ElementsAre(1)) << "half of 3, rounded down";
  EXPECT_EQ(governor_.Step(policies_, {0.04, 0, 0}, kFiveSeconds)[0].factor, 0.5);
}

}  // namespace
}  // namespace firetower::daemon
