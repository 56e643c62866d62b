// SPDX-License-Identifier: Apache-2.0
// The readings that fire, the subjects of a firing, and its texts.
#include <gmock/gmock.h>

#include "tests/unit/daemon/trigger/readings.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const auto kCart = PodContainer('a', '1');
const auto kProxy = PodContainer('a', '2');
const auto kOther = PodContainer('b', '3');

class TriggerFiringTest : public TriggerTest {
 protected:
  void SetKills(const std::shared_ptr<const Container>& container, double kills) {
    source_.containers[{container->root_path, k8s::Metric::kOomKill}] = kills;
  }
  void SetMemory(const std::shared_ptr<const Container>& container, double percent) {
    source_.containers[{container->root_path, k8s::Metric::kContainerMemory}] = percent;
  }
};

const std::string kMemoryRule =
    "{name: full, metric: ContainerMemory, operator: GreaterThan, target: {type: Utilization, "
    "utilizationPercent: 90}, forSeconds: 0}";
const std::string kNodeRule =
    "{name: load, metric: NodeLoad, operator: GreaterThan, target: {type: Value, value: \"4\"}, "
    "forSeconds: 0}";

TEST_F(TriggerFiringTest, SaysWhatHeldWhereAndWhen) {
  Arm({TriggerPolicy("busy", "rules: [" + CpuRule("hot", 90, 0) +
                                 "], capture: {scope: Container, durationSeconds: 20}")},
      {kCart, kOther});
  SetCpu(kCart, 97.5);
  SetCpu(kOther, 90);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  const Firing& firing = firings[0];
  EXPECT_EQ(firing.policy->name, "busy");
  EXPECT_EQ(firing.container, kCart);
  EXPECT_THAT(firing.captured, ElementsAre(kCart));
  EXPECT_FALSE(firing.whole_node);
  EXPECT_EQ(firing.capture.duration_seconds, 20);
  EXPECT_EQ(firing.monotonic_ns, kNsPerSecond);
  EXPECT_EQ(firing.wall_ns, kWallNs + kNsPerSecond);
  ASSERT_THAT(firing.rules, SizeIs(1));
  EXPECT_EQ(firing.rules[0].name, "hot");
  EXPECT_EQ(firing.rules[0].metric, k8s::Metric::kContainerCpu);
  EXPECT_EQ(firing.rules[0].reading, 97.5);
  EXPECT_EQ(firing.rules[0].threshold, 90);
  EXPECT_EQ(firing.rules[0].container, kCart);
  EXPECT_EQ(Describe(firing), "hot: ContainerCPU 97.5 % > 90 %");
}

TEST_F(TriggerFiringTest, APodIsOneSubject) {
  Arm({TriggerPolicy("busy", "rules: [" + CpuRule("hot", 90, 0) + "]")}, {kCart, kOther, kProxy});
  for (const auto& container : {kCart, kOther, kProxy}) SetCpu(container, 95);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(2));
  EXPECT_THAT(firings[0].captured, ElementsAre(kCart, kProxy));
  ASSERT_THAT(firings[0].rules, SizeIs(2));
  EXPECT_EQ(firings[0].rules[0].container, kCart);
  EXPECT_EQ(firings[0].rules[1].container, kProxy);
  EXPECT_THAT(firings[1].captured, ElementsAre(kOther));
}

TEST_F(TriggerFiringTest, ACaptureOfAPodHasItsQuietContainersToo) {
  Arm({TriggerPolicy("busy", "rules: [" + CpuRule("hot", 90, 0) + "]")}, {kCart, kProxy});
  SetCpu(kCart, 95);
  SetCpu(kProxy, 5);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  EXPECT_THAT(firings[0].rules, SizeIs(1));
  EXPECT_THAT(firings[0].captured, ElementsAre(kCart, kProxy));
}

TEST_F(TriggerFiringTest, AnyOfFiresOnEitherRule) {
  Arm({TriggerPolicy("busy", "rules: [" + CpuRule("hot", 90, 0) + ", " + kMemoryRule +
                                 "], capture: {scope: Container}")},
      {kCart, kOther});
  SetCpu(kCart, 95);
  SetMemory(kCart, 95);
  SetMemory(kOther, 95);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(2));
  EXPECT_EQ(Describe(firings[0]),
            "hot: ContainerCPU 95 % > 90 %, full: ContainerMemory 95 % > 90 %");
  EXPECT_EQ(Describe(firings[1]), "full: ContainerMemory 95 % > 90 %");
}

TEST_F(TriggerFiringTest, AllOfNeedsEveryRuleOfOneContainer) {
  Arm({TriggerPolicy(
          "busy", "combine: AllOf, rules: [" + CpuRule("hot", 90, 2) + ", " + kMemoryRule + "]")},
      {kCart, kProxy});
  SetCpu(kCart, 95);
  SetMemory(kCart, 50);
  SetCpu(kProxy, 50);
  SetMemory(kProxy, 95);
  EXPECT_THAT(FiredIn(5), IsEmpty()) << "each in a container of its own";
  SetMemory(kCart, 95);
  EXPECT_THAT(FiredIn(1), ElementsAre(6)) << "the CPU had its time already";
}

TEST_F(TriggerFiringTest, AllOfDoesNotFireOnAMissingReading) {
  Arm({TriggerPolicy(
          "busy", "combine: AllOf, rules: [" + CpuRule("hot", 90, 0) + ", " + kMemoryRule + "]")},
      {kCart});
  SetCpu(kCart, 95);
  EXPECT_THAT(FiredIn(3), IsEmpty());
  SetMemory(kCart, 95);
  SetCpu(kCart, std::nullopt);
  EXPECT_THAT(FiredIn(3), IsEmpty());
  SetCpu(kCart, 95);
  EXPECT_THAT(FiredIn(1), ElementsAre(7));
}

TEST_F(TriggerFiringTest, AMetricOfTheNodeCapturesAllThatThePolicyTakes) {
  Arm({TriggerPolicy("load", "rules: [" + kNodeRule + "]", "ClusterProfilingPolicy")},
      {kCart, kOther});
  source_.node[{k8s::Metric::kNodeLoad, k8s::CpuScope::kAll}] = 5;
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  EXPECT_EQ(firings[0].container, nullptr);
  EXPECT_EQ(firings[0].rules[0].container, nullptr);
  EXPECT_THAT(firings[0].captured, ElementsAre(kCart, kOther));
  EXPECT_EQ(Describe(firings[0]), "load: NodeLoad 5 > 4");
}

TEST_F(TriggerFiringTest, AMetricOfTheNodeWithNobodyToCaptureWaits) {
  const auto policy = TriggerPolicy("load", "rules: [" + kNodeRule + "]", "ClusterProfilingPolicy");
  Arm({policy}, {});
  source_.node[{k8s::Metric::kNodeLoad, k8s::CpuScope::kAll}] = 5;
  EXPECT_THAT(FiredIn(3), IsEmpty());
  Arm({policy}, {kCart});
  EXPECT_THAT(FiredIn(2), ElementsAre(4));
}

TEST_F(TriggerFiringTest, ScopeNodeNeedsNoContainer) {
  Arm({TriggerPolicy("load", "rules: [" + kNodeRule + "], capture: {scope: Node}",
                     "ClusterProfilingPolicy")},
      {});
  source_.node[{k8s::Metric::kNodeLoad, k8s::CpuScope::kAll}] = 5;
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  EXPECT_TRUE(firings[0].whole_node);
  EXPECT_THAT(firings[0].captured, IsEmpty());
}

TEST_F(TriggerFiringTest, AllOfWithTheNodeIsAskedForEachContainer) {
  Arm({TriggerPolicy("both",
                     "combine: AllOf, rules: [" + CpuRule("hot", 90, 0) + ", " + kNodeRule +
                         "], capture: {scope: Container}",
                     "ClusterProfilingPolicy")},
      {kCart, kOther});
  source_.node[{k8s::Metric::kNodeLoad, k8s::CpuScope::kAll}] = 5;
  SetCpu(kCart, 95);
  SetCpu(kOther, 5);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  EXPECT_EQ(firings[0].container, kCart);
  ASSERT_THAT(firings[0].rules, SizeIs(2));
  EXPECT_EQ(firings[0].rules[1].container, nullptr);
}

TEST_F(TriggerFiringTest, EachOomKillIsAnInstant) {
  const auto policy = TriggerPolicy(
      "killed",
      "rules: [{name: oom, metric: OOMKill}], capture: {scope: Container, durationSeconds: 5}, "
      "cooldownSeconds: 0");
  SetKills(kCart, 0);
  Arm({policy}, {kCart});
  EXPECT_THAT(FiredIn(2), IsEmpty());
  SetKills(kCart, 2);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  EXPECT_EQ(firings[0].rules[0].reading, 2);
  EXPECT_EQ(Describe(firings[0]), "oom: OOMKill");
  EXPECT_THAT(FiredIn(20), IsEmpty()) << "it was one instant";
  SetKills(kCart, 3);
  EXPECT_THAT(FiredIn(3), ElementsAre(24));
  EXPECT_EQ(SuppressedBy(Suppressed::kCaptureRunning), 0u);
}

TEST_F(TriggerFiringTest, AnOomKillInACooldownIsLostAndCounted) {
  SetKills(kCart, 0);
  Arm({TriggerPolicy("killed",
                     "rules: [{name: oom, metric: OOMKill}], cooldownSeconds: 10, "
                     "capture: {durationSeconds: 5}")},
      {kCart});
  SetKills(kCart, 1);
  EXPECT_THAT(FiredIn(10), ElementsAre(1));
  SetKills(kCart, 2);
  EXPECT_THAT(FiredIn(20), IsEmpty());
  EXPECT_EQ(SuppressedBy(Suppressed::kCooldown), 1u);
}

// On cgroup v1 the victim's cgroup is often gone before a second look.
TEST_F(TriggerFiringTest, AnOomKillMayBeTold) {
  SetKills(kCart, 0);
  Arm({TriggerPolicy("killed",
                     "rules: [{name: oom, metric: OOMKill}], cooldownSeconds: 0, "
                     "capture: {durationSeconds: 5}")},
      {kCart, kOther});
  EXPECT_THAT(FiredIn(1), IsEmpty());
  source_.containers.clear();
  triggers_.NoteOomKill(kCart->root_path + "/init", 1'500'000'000);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  EXPECT_EQ(firings[0].container, kCart);
  EXPECT_THAT(FiredIn(20), IsEmpty());
}

TEST_F(TriggerFiringTest, AKillThatIsToldAndCountedIsOne) {
  SetKills(kCart, 0);
  Arm({TriggerPolicy("killed",
                     "rules: [{name: oom, metric: OOMKill}], cooldownSeconds: 0, "
                     "capture: {durationSeconds: 5}")},
      {kCart});
  triggers_.NoteOomKill(kCart->root_path, 500'000'000);
  EXPECT_THAT(FiredIn(6), ElementsAre(1));
  SetKills(kCart, 1);
  EXPECT_THAT(FiredIn(6), IsEmpty());
  SetKills(kCart, 2);
  EXPECT_THAT(FiredIn(6), ElementsAre(13));
}

TEST_F(TriggerFiringTest, AKillMayBeToldBeforeItsContainerIs) {
  const auto policy = TriggerPolicy("killed", "rules: [{name: oom, metric: OOMKill}]");
  Arm({policy}, {kOther});
  triggers_.NoteOomKill(kCart->root_path, 500'000'000);
  EXPECT_THAT(FiredIn(3), IsEmpty());
  Arm({policy}, {kOther, kCart});
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  EXPECT_EQ(firings[0].container, kCart);
}

TEST_F(TriggerFiringTest, AKillOfNobodyIsForgotten) {
  const auto policy = TriggerPolicy("killed", "rules: [{name: oom, metric: OOMKill}]");
  Arm({policy}, {kOther});
  triggers_.NoteOomKill(kCart->root_path, 0);
  for (int i = 0; i < 10000; ++i) triggers_.NoteOomKill("/elsewhere", 0);
  EXPECT_THAT(FiredIn(20), IsEmpty());
  Arm({policy}, {kOther, kCart});
  EXPECT_THAT(FiredIn(1), IsEmpty());
}

TEST_F(TriggerFiringTest, KillsBeforeThePolicyWasArmedAreNotItsOwn) {
  const auto killed = TriggerPolicy("killed", "rules: [{name: oom, metric: OOMKill}]");
  SetKills(kCart, 0);
  Arm({killed}, {kCart});
  SetKills(kCart, 1);
  EXPECT_THAT(FiredIn(1), ElementsAre(1));
  Arm({killed, TriggerPolicy("later", "rules: [{name: oom, metric: OOMKill}]")}, {kCart});
  EXPECT_THAT(FiredIn(2), IsEmpty());
}

}  // namespace
}  // namespace firetower::daemon
