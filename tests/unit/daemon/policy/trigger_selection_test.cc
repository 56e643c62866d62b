// SPDX-License-Identifier: Apache-2.0
// Tests of the sampling by policies in mode Trigger: while armed, and while a capture is made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "daemon/policy/policy_selection.h"
#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string Trigger(const std::string& capture = "", int armed_hertz = 19,
                    const std::string& more = "") {
  return "mode: Trigger, " + more + "trigger: {rules: [{name: busy, metric: ContainerCPU, " +
         "operator: GreaterThan, target: {type: Utilization, utilizationPercent: 80}}], " +
         "armedFrequencyHertz: " + std::to_string(armed_hertz) +
         (armed_hertz == 0 ? ", capture: {preTriggerSeconds: 0, frequencyHertz: 97"
                           : ", capture: {preTriggerSeconds: 20, frequencyHertz: 97") +
         capture + "}}";
}

class TriggerSelection : public ::testing::Test {
 protected:
  static std::string Spikes(const std::string& spec = Trigger()) {
    return Document("spikes", spec + ", " + kAllPods);
  }
  Decision Decide(const std::string& documents, const Container& container,
                  std::vector<ActiveCapture> captures = {},
                  std::set<std::string, std::less<>> node_wide = {}) const {
    return PolicySchedule(Loaded(documents), kCeilingHz)
        .At(0, std::nullopt, {std::move(captures), std::move(node_wide)})
        ->Decide(container);
  }
  static ActiveCapture CaptureOf(std::shared_ptr<const Container> container) {
    return {"ProfilingPolicy default/spikes", {std::move(container), ""}};
  }

  static constexpr uint32_t kCeilingHz = 199;
  const std::shared_ptr<const Container> web_ =
      std::make_shared<const Container>(PodContainer("89abc", 'a'));
  const std::shared_ptr<const Container> db_ =
      std::make_shared<const Container>(PodContainer("89abd", 'b'));
};

TEST_F(TriggerSelection, ArmedItIsRecordedAndNothingElse) {
  const Decision decision = Decide(Spikes(), *web_);
  EXPECT_TRUE(decision.sampled);
  EXPECT_EQ(decision.frequency_hz, 19u);
  EXPECT_EQ(decision.record_ns, 20 * kNsPerSecond);
  EXPECT_FALSE(decision.to_metrics);
  EXPECT_FALSE(decision.to_store);
  EXPECT_THAT(decision.policies, IsEmpty());
}

TEST_F(TriggerSelection, OtherPoliciesKeepWhatTheyHave) {
  const std::string general = Document("all", "mode: General, " + kContinuous + kAllPods +
                                                  ", profiles: [{type: CPU, "
                                                  "frequencyHertz: 49}]");
  const Decision decision = Decide(Spikes() + general, *web_);
  EXPECT_EQ(decision.frequency_hz, 49u);
  EXPECT_EQ(decision.record_ns, 20 * kNsPerSecond);
  EXPECT_TRUE(decision.to_metrics);
  EXPECT_TRUE(decision.to_store);
  EXPECT_THAT(decision.policies, ElementsAre("default/all"));
}

TEST_F(TriggerSelection, ACaptureRaisesTheRateOfWhomItTakes) {
  const Decision captured = Decide(Spikes(), *web_, {CaptureOf(web_)});
  EXPECT_EQ(captured.frequency_hz, 97u);
  EXPECT_TRUE(captured.to_metrics);
  EXPECT_FALSE(captured.to_store) << "it goes to the capture";
  EXPECT_THAT(captured.policies, ElementsAre("default/spikes"));
  EXPECT_EQ(Decide(Spikes(), *db_, {CaptureOf(web_)}).frequency_hz, 19u);
  EXPECT_FALSE(Decide(Spikes(), *db_, {CaptureOf(web_)}).to_metrics);
}

TEST_F(TriggerSelection, WithoutAnArmedRateNothingIsSampledUntilACapture) {
  const std::string documents = Spikes(Trigger("", 0));
  EXPECT_FALSE(Decide(documents, *web_).sampled);
  const PolicySchedule schedule(Loaded(documents), kCeilingHz);
  ASSERT_TRUE(schedule.At(0)->cpus());
  EXPECT_TRUE(schedule.At(0)->cpus()->none()) << "no perf event is open";
  const Decision captured = Decide(documents, *web_, {CaptureOf(web_)});
  EXPECT_TRUE(captured.sampled);
  EXPECT_EQ(captured.frequency_hz, 97u);
  EXPECT_FALSE(Decide(documents, *db_, {CaptureOf(web_)}).sampled);
}

TEST_F(TriggerSelection, ALoweredPolicyGetsItsPart) {
  const PolicySchedule schedule(Loaded(Spikes()), kCeilingHz);
  const std::vector<ActiveCapture> captured{CaptureOf(web_)};
  const auto at = [&](double factor, std::vector<ActiveCapture> captures) {
    const RateFactors factors{{"ProfilingPolicy default/spikes", factor}};
    return schedule.At(0, std::nullopt, {std::move(captures), {}}, factors)->Decide(*web_);
  };
  EXPECT_EQ(at(0.25, captured).frequency_hz, 24u);
  EXPECT_EQ(at(0.25, {}).frequency_hz, 4u);
  EXPECT_EQ(at(0.01, {}).frequency_hz, 1u);
  EXPECT_FALSE(at(0, captured).sampled);
  const std::vector<std::shared_ptr<const Container>> all{web_};
  EXPECT_EQ(schedule.ArmedAt(0, std::nullopt, all).size(), 1u);
  EXPECT_TRUE(
      schedule.ArmedAt(0, std::nullopt, all, {{"ProfilingPolicy default/spikes", 0}}).empty());
}

// It is not armed then, so it is unknown whether it could fire: its level must be kept.
TEST_F(TriggerSelection, ADroppedPolicyOfTheNodeIsStillInForce) {
  const PolicySchedule schedule(
      Loaded(
          Document("spikes", Trigger(", scope: Node") + ", " + kAllPods, "ClusterProfilingPolicy")),
      kCeilingHz);
  const auto asked = [&](const RateFactors& factors) {
    return schedule.RunningAt(0, std::nullopt, {}, factors).at(0).frequency_hz;
  };
  EXPECT_EQ(asked({}), 0u) << "nothing can fire it";
  const RateFactors dropped{{"ClusterProfilingPolicy spikes", 0}};
  EXPECT_EQ(asked(dropped), 19u);
  EXPECT_FALSE(schedule.At(0, std::nullopt, {}, dropped)->Decide(*web_).sampled);
}

TEST_F(TriggerSelection, SaysWhatRatesAreAskedFor) {
  const std::string general = Document("all", "mode: General, " + kContinuous + kAllPods +
                                                  ", profiles: [{type: CPU, frequencyHertz: 49}]");
  const std::string over =
      Document("over", "mode: General, suspend: true, " + kContinuous + kAllPods);
  const PolicySchedule schedule(Loaded(Spikes() + general + over), 60);
  const auto rates = [&](std::vector<ActiveCapture> captures) {
    std::map<std::string, uint32_t> asked;
    for (const auto& one : schedule.RunningAt(0, std::nullopt, {std::move(captures), {}}))
      asked[one.policy->name] = one.frequency_hz;
    return asked;
  };
  EXPECT_THAT(rates({}), UnorderedElementsAre(Pair("spikes", 19u), Pair("all", 49u)));
  EXPECT_THAT(rates({CaptureOf(web_)}),
              UnorderedElementsAre(Pair("spikes", 60u), Pair("all", 49u)));
}

TEST_F(TriggerSelection, AFilterOfAPolicyThatSamplesNothingNowWidensNothing) {
  const std::string filter =
      Document("one", "mode: Filter, filter: {processes: [{comm: worker}]}, " + kAllPods);
  const Decision decision = Decide(filter + Spikes(Trigger("", 0)), *web_);
  ASSERT_TRUE(decision.sampled);
  EXPECT_NE(decision.filter, nullptr);
}

TEST_F(TriggerSelection, WidensNobodysFilter) {
  const std::string filter =
      Document("one", "mode: Filter, filter: {processes: [{comm: worker}]}, " + kAllPods);
  EXPECT_NE(Decide(filter + Spikes(), *web_).filter, nullptr);
  EXPECT_NE(Decide(filter + Spikes(), *web_, {CaptureOf(web_)}).filter, nullptr);
  EXPECT_EQ(Decide(Spikes(), *web_).filter, nullptr);
}

TEST_F(TriggerSelection, SaysForWhomItIsRecorded) {
  EXPECT_THAT(Decide(Spikes(), *web_).recorded_for, ElementsAre("default/spikes"));
}

TEST_F(TriggerSelection, ACaptureOfTheNodeTakesEverything) {
  const std::string documents =
      Document("spikes", Trigger(", scope: Node") + ", " + kAllPods, "ClusterProfilingPolicy");
  const Container unit = ContainerAt("/system.slice/cron.service");
  const std::string name = "ClusterProfilingPolicy spikes";
  EXPECT_EQ(Decide(documents, unit, {}, {name}).frequency_hz, 19u);
  EXPECT_EQ(Decide(documents, unit, {{name, {}}}, {name}).frequency_hz, 97u);
  EXPECT_EQ(Decide(documents, *web_, {{name, {}}}, {name}).frequency_hz, 97u);
}

// Its rules are about a container that does not run here, so nothing could fire.
TEST_F(TriggerSelection, APolicyOfTheNodeThatCannotFireSamplesNothing) {
  const std::string documents =
      Document("spikes", Trigger(", scope: Node") + ", " + kAllPods, "ClusterProfilingPolicy");
  EXPECT_FALSE(Decide(documents, *web_).sampled);
  EXPECT_FALSE(Decide(documents, *web_, {}, {"ClusterProfilingPolicy other"}).sampled);
  const auto selection = PolicySchedule(Loaded(documents), kCeilingHz).At(0);
  ASSERT_TRUE(selection->cpus());
  EXPECT_TRUE(selection->cpus()->none()) << "no perf event is open";
}

TEST_F(TriggerSelection, SaysWhomItsRulesAreAbout) {
  const std::vector<std::shared_ptr<const Container>> all{web_, db_};
  const std::string shop = Document("c", "mode: General, " + kContinuous + kAllPods);
  const std::string excluded = "targets: {podSelector: {matchLabels: {}}, containers: {exclude: [" +
                               db_->labels.container + "]}}";
  const PolicySchedule schedule(
      Loaded(Document("spikes", Trigger() + ", " + excluded) + shop +
             Document("over", Trigger("", 19, "activeDeadlineSeconds: 60, ") + ", " + kAllPods)),
      kCeilingHz);
  const auto armed = schedule.ArmedAt(60 * kNsPerSecond, std::nullopt, all);
  ASSERT_EQ(armed.size(), 1u);
  EXPECT_EQ(armed[0].policy->name, "spikes");
  EXPECT_THAT(armed[0].targets, ElementsAre(web_));
  EXPECT_EQ(schedule.ArmedAt(0, std::nullopt, all).size(), 2u);
}

}  // namespace
}  // namespace firetower::daemon
