// SPDX-License-Identifier: Apache-2.0
// Tests of the watched targets, the counts and the bounds.
#include "daemon/trigger/triggers.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "tests/unit/daemon/trigger/readings.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const auto kCart = PodContainer('a', '1');
const auto kOther = PodContainer('b', '3');

using TriggersTest = TriggerTest;

TEST_F(TriggersTest, APolicyLooksAtItsOwnContainersAlone) {
  const auto a = TriggerPolicy("a", "rules: [" + CpuRule("hot", 80, 0) + "]");
  const auto b = TriggerPolicy("b", "rules: [" + CpuRule("hot", 80, 0) + "]");
  triggers_.Arm({a, b}, {{kCart, nullptr, {0}}, {kOther, nullptr, {1, 7}}});
  SetCpu(kCart, 5);
  SetCpu(kOther, 90);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(1));
  EXPECT_EQ(firings[0].policy->name, "b");
  EXPECT_EQ(firings[0].container, kOther);
}

TEST_F(TriggersTest, RequestsComeFromThePod) {
  auto pod = std::make_shared<k8s::Pod>();
  pod->containers = {
      {"cart", k8s::ContainerKind::kRegular, {std::string(64, '1')}, {250, 1 << 20}}};
  triggers_.Arm({TriggerPolicy("p", "rules: [" + CpuRule("hot", 80, 0) + "]")},
                {{kCart, pod, {0}}, {kOther, pod, {0}}});
  ASSERT_THAT(source_.watched, SizeIs(2));
  EXPECT_EQ(source_.watched[0].container, kCart);
  EXPECT_EQ(source_.watched[0].cpu_request_millis, 250);
  EXPECT_EQ(source_.watched[0].memory_request_bytes, 1 << 20);
  EXPECT_EQ(source_.watched[1].cpu_request_millis, 0) << "its id is in no container of the pod";
}

TEST_F(TriggersTest, APodsOwnCgroupIsNoContainer) {
  auto pod = std::make_shared<Container>();
  pod->root_path = kCart->root_path.substr(0, kCart->root_path.rfind('/'));
  pod->path = k8s::ParseCgroupPath(pod->root_path);
  ASSERT_EQ(pod->path.kind, k8s::PathKind::kPodSandboxLevel);
  auto unit = std::make_shared<Container>();
  unit->root_path = "/system.slice/cron.service";
  unit->path = k8s::ParseCgroupPath(unit->root_path);
  auto host = std::make_shared<Container>();
  host->root_path = "/";
  Arm({TriggerPolicy("p", "rules: [" + CpuRule("hot", 80, 0) + "]")}, {pod, kCart, unit, host});
  ASSERT_THAT(source_.watched, SizeIs(2));
  for (const std::shared_ptr<const Container> one : {pod, unit, host}) SetCpu(one, 95);
  SetCpu(kCart, 95);
  const std::vector<Firing> firings = Second();
  ASSERT_THAT(firings, SizeIs(2));
  EXPECT_THAT(firings[0].captured, ElementsAre(kCart));
  EXPECT_EQ(firings[1].container, unit);
}

TEST_F(TriggersTest, AContainerThatStaysKeepsItsTime) {
  const auto policy = TriggerPolicy("p", "rules: [" + CpuRule("hot", 80, 4) + "]");
  SetCpu(kCart, 90);
  Arm({policy}, {kCart});
  EXPECT_THAT(FiredIn(3), IsEmpty());
  Arm({policy}, {kOther, kCart});
  EXPECT_THAT(FiredIn(3), ElementsAre(5));
}

TEST_F(TriggersTest, AContainerThatWasAwayStartsAnew) {
  const auto policy = TriggerPolicy("p", "rules: [" + CpuRule("hot", 80, 4) + "]");
  SetCpu(kCart, 90);
  Arm({policy}, {kCart});
  EXPECT_THAT(FiredIn(3), IsEmpty());
  Arm({policy}, {kOther});
  EXPECT_THAT(FiredIn(1), IsEmpty());
  Arm({policy}, {kCart});
  EXPECT_THAT(FiredIn(6), ElementsAre(9));
}

TEST_F(TriggersTest, CountsReadingsThatWereCompared) {
  Arm({TriggerPolicy("p",
                     "rules: [" + CpuRule("hot", 80, 60) + ", " + CpuRule("warm", 50, 60) + "]")},
      {kCart, kOther});
  SetCpu(kCart, 10);
  FiredIn(10);
  EXPECT_EQ(counted_.evaluations, 20u) << "kOther has no reading";
  EXPECT_EQ(triggers_.Counts().at(0).policy->name, "p");
  EXPECT_EQ(counted_.captures, 0u);
}

TEST_F(TriggersTest, NamesTheRulesThatCannotHold) {
  source_.missing = NoReading::kNotServed;
  Arm({TriggerPolicy("p", "rules: [" + CpuRule("hot", 80, 0) +
                              ", {name: stalled, metric: ContainerIOPressure, operator: "
                              "GreaterThan, target: {type: Utilization, utilizationPercent: 5}}]")},
      {kCart, kOther});
  SetCpu(kCart, 10);
  FiredIn(1);
  const std::vector<UnservedRule> unserved = triggers_.Unserved();
  ASSERT_THAT(unserved, SizeIs(1)) << "one container has a CPU reading";
  EXPECT_EQ(unserved[0].rule, "stalled");
  EXPECT_EQ(unserved[0].reason, "ContainerIOPressure: this table is empty");
}

TEST_F(TriggersTest, HoldsNoMoreThanItsBounds) {
  std::vector<ArmedPolicy> policies;
  for (size_t i = 0; i < Triggers::kMaxPolicies + 3; ++i) {
    policies.push_back(
        TriggerPolicy("p" + std::to_string(i), "rules: [" + CpuRule("hot", 80, 0) + "]"));
  }
  std::vector<WatchedContainer> containers;
  for (size_t i = 0; i < Triggers::kMaxContainers + 5; ++i) {
    auto container = std::make_shared<Container>(*kCart);
    container->root_path += std::to_string(i);
    containers.push_back({container, nullptr, {0}});
    containers.push_back({container, nullptr, {0}});  // twice is once
  }
  triggers_.Arm(policies, containers);
  EXPECT_EQ(triggers_.policies_left_out(), 3u);
  EXPECT_EQ(triggers_.containers_left_out(), 5u * 2);
  EXPECT_THAT(triggers_.Counts(), SizeIs(Triggers::kMaxPolicies));
  EXPECT_THAT(source_.watched, SizeIs(Triggers::kMaxContainers));
}

// The table that people read has every metric that a policy may name, in the order of the schema.
TEST(TriggersPage, TellsOfEveryMetric) {
  const Result<std::string> page = ReadFile(FIRETOWER_SOURCE_DIR "/docs/triggers.md");
  ASSERT_TRUE(page);
  size_t at = 0;
  for (const std::string_view metric : k8s::kEnumNames<k8s::Metric>) {
    const size_t row = page->find("\n| `" + std::string(metric) + "` | ", at);
    ASSERT_NE(row, std::string::npos) << metric;
    at = row;
  }
  for (const std::string_view reason : kSuppressedNames)
    EXPECT_NE(page->find("`" + std::string(reason) + "`"), std::string::npos) << reason;
}

}  // namespace
}  // namespace firetower::daemon
