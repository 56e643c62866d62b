// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/budget_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

constexpr int64_t kMi = 1 << 20;

class BudgetControllerTest : public ::testing::Test {
 protected:
  static PolicySchedule::Running Policy(const std::string& name, int priority, int32_t limit_milli,
                                        uint32_t frequency_hz = 96) {
    auto policy = std::make_shared<k8s::ProfilingPolicy>();
    policy->namespace_name = "shop";
    policy->name = name;
    policy->uid = "uid-" + name;
    policy->spec.priority = priority;
    if (limit_milli > 0) policy->spec.limits = k8s::LimitsSpec{{0, limit_milli * 1'000'000}};
    return {policy, frequency_hz};
  }

  // The next ten seconds cost that many thousandths of a CPU.
  bool Look(int64_t milli_cpu, int64_t memory_bytes = 0) {
    now_ns_ += BudgetController::kEveryNs;
    totals_.cpu_ns += milli_cpu * BudgetController::kEveryNs / 1000;
    totals_.memory_bytes = memory_bytes;
    return controller_.Look(running_, totals_, now_ns_);
  }
  PolicyFindings Findings() const {
    PolicyFindings findings;
    controller_.AddTo(findings);
    return findings;
  }
  std::string Metrics() const { return registry_.Render(ExpositionFormat::kText); }

  MetricsRegistry registry_;
  BudgetController controller_{registry_, 100 * kMi};
  std::vector<PolicySchedule::Running> running_;
  OwnTotals totals_;
  int64_t now_ns_ = 1;
};

TEST_F(BudgetControllerTest, LowersWhoHasTheLeastPriorityUntilTheBudgetHolds) {
  running_ = {Policy("high", 5, 25), Policy("low", 0, 25)};
  EXPECT_FALSE(Look(500)) << "what it cost until now is nobody's rate";
  EXPECT_FALSE(Look(70));
  EXPECT_THAT(controller_.factors(), IsEmpty());
  EXPECT_TRUE(Look(70));
  // 192 Hz cost 70m: at most 137 Hz cost 50m.
  EXPECT_THAT(controller_.factors(), ElementsAre(Pair("ProfilingPolicy shop/low", 0.25)));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_governed_policies{rate=\"lowered\"} 1\n"));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_governed_policies{rate=\"full\"} 1\n"));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_governor_steps_total 2\n"));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_budget_cores 0.05\n"));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_budget_exceeded{resource=\"cpu\"} 1\n"));
  EXPECT_FALSE(Look(45));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_budget_exceeded{resource=\"cpu\"} 0\n"));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_governed_policies{rate=\"lowered\"} 1\n"));
}

TEST_F(BudgetControllerTest, TellsItOfThePoliciesItConcerns) {
  running_ = {Policy("high", 5, 25), Policy("low", 0, 25)};
  for (int i = 0; i < 3; ++i) Look(70);
  PolicyFindings findings = Findings();
  ASSERT_THAT(findings, ElementsAre(Pair("uid-low", ::testing::_)));
  EXPECT_EQ(findings["uid-low"].reason, "BudgetExceeded");
  EXPECT_FALSE(findings["uid-low"].failed);
  EXPECT_EQ(findings["uid-low"].message,
            "sampled at 25 % of the rate it asks for: more would cost the node above limits.cpu of "
            "its policies, 50m together");
  Look(45);
  EXPECT_EQ(Findings()["uid-low"].message, findings["uid-low"].message)
      << "a status is written again only when something changes";
}

TEST_F(BudgetControllerTest, TellsWhoIsNotSampledAtAll) {
  running_ = {Policy("low", 0, 1)};
  for (int i = 0; i < 3; ++i) Look(700);
  EXPECT_THAT(controller_.factors(), ElementsAre(Pair("ProfilingPolicy shop/low", 0)));
  EXPECT_TRUE(Findings()["uid-low"].failed);
  EXPECT_THAT(Findings()["uid-low"].message, HasSubstr("not sampled: more would cost"));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_governed_policies{rate=\"dropped\"} 1\n"));
}

TEST_F(BudgetControllerTest, GivesBackWhatThereIsRoomFor) {
  running_ = {Policy("low", 0, 50)};
  for (int i = 0; i < 3; ++i) Look(100);
  EXPECT_THAT(controller_.factors(), ElementsAre(Pair("ProfilingPolicy shop/low", 0.5)));
  int64_t seconds = 0;
  while (!Look(10)) {
    seconds += BudgetController::kEveryNs / kNsPerSecond;
    ASSERT_LE(seconds, 60);
  }
  EXPECT_THAT(controller_.factors(), IsEmpty());
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(BudgetControllerTest, APolicyWithoutALimitHasItsPartOfTheCostAndIsLetBe) {
  running_ = {Policy("limited", 5, 50), Policy("free", 0, 0)};
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Look(99)) << "half of it is the other's";
  EXPECT_FALSE(Look(150));
  EXPECT_TRUE(Look(150));
  EXPECT_THAT(controller_.factors(), ElementsAre(Pair("ProfilingPolicy shop/limited", 0.5)));
}

TEST_F(BudgetControllerTest, WithoutLimitsThereIsNoBudget) {
  running_ = {Policy("free", 0, 0)};
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Look(900));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_budget_cores +Inf\n"));
}

TEST_F(BudgetControllerTest, MemoryIsABudgetToo) {
  running_ = {Policy("low", 0, 0)};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Look(10, 90 * kMi));
  EXPECT_FALSE(Look(10, 91 * kMi));
  EXPECT_TRUE(Look(10, 91 * kMi));
  EXPECT_THAT(controller_.factors(), ElementsAre(Pair("ProfilingPolicy shop/low", 0.5)));
  EXPECT_THAT(Findings()["uid-low"].message, HasSubstr("above 90 MiB of memory"));
  EXPECT_THAT(Metrics(), HasSubstr("firetower_budget_exceeded{resource=\"memory\"} 1\n"));
}

TEST_F(BudgetControllerTest, LooksNotTooOften) {
  running_ = {Policy("low", 0, 1)};
  Look(0);
  Look(900);
  EXPECT_FALSE(controller_.IsDue(now_ns_ + BudgetController::kEveryNs - 1));
  EXPECT_FALSE(controller_.Look(running_, {totals_.cpu_ns * 2, 0}, now_ns_ + 1));
  EXPECT_TRUE(Look(900));
}

TEST_F(BudgetControllerTest, SaysNothingInTheStatusOfPoliciesFromFiles) {
  running_ = {Policy("low", 0, 1)};
  auto file = std::make_shared<k8s::ProfilingPolicy>(*running_[0].policy);
  file->uid.clear();
  running_[0].policy = file;
  for (int i = 0; i < 3; ++i) Look(900);
  EXPECT_THAT(controller_.factors(), Not(IsEmpty()));
  EXPECT_THAT(Findings(), IsEmpty());
}

// A trigger that is armed at 0 Hz asks for a rate in captures only.
TEST_F(BudgetControllerTest, APartIsKeptWhileNothingIsAskedFor) {
  running_ = {Policy("low", 0, 50)};
  for (int i = 0; i < 3; ++i) Look(100);
  ASSERT_THAT(controller_.factors(), ElementsAre(Pair("ProfilingPolicy shop/low", 0.5)));
  const std::string message = Findings()["uid-low"].message;
  running_[0].frequency_hz = 0;
  EXPECT_FALSE(Look(10));
  EXPECT_THAT(controller_.factors(), ElementsAre(Pair("ProfilingPolicy shop/low", 0.5)));
  EXPECT_EQ(Findings()["uid-low"].message, message);
}

// A message that changed at each look would be a write to the API server each.
TEST_F(BudgetControllerTest, SaysWhyItWasLoweredAndNotWhatIsNow) {
  running_ = {Policy("low", 0, 50)};
  for (int i = 0; i < 3; ++i) Look(100);
  const std::string message = Findings()["uid-low"].message;
  Look(45);
  Look(10, 91 * kMi);
  EXPECT_EQ(Findings()["uid-low"].message, message) << "one reading over lowers nobody";
  Look(10, 91 * kMi);
  EXPECT_THAT(Findings()["uid-low"].message, HasSubstr("25 % of the rate"));
  EXPECT_THAT(Findings()["uid-low"].message, HasSubstr("above 90 MiB of memory"));
}

}  // namespace
}  // namespace firetower::daemon
