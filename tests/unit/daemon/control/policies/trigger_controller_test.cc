// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/trigger_controller.h"

#include <gmock/gmock.h>

#include "tests/unit/daemon/trigger/readings.h"

namespace firetower::daemon {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = kNsPerSecond;
constexpr int64_t kWallNs = 1'700'000'000 * kSecond;

// One policy, `hot`, that takes kCart and captures for 20 s; looked at once a second.
class TriggerControllerTest : public ::testing::Test {
 protected:
  static ArmedPolicy Hot(const std::string& more = "") {
    return TriggerPolicy("hot", "rules: [" + CpuRule("busy", 80, 0) +
                                    "], capture: {scope: Container, durationSeconds: 20}" + more);
  }
  void Arm(const std::vector<ArmedPolicy>& policies) {
    std::vector<PolicySchedule::Armed> armed;
    for (const ArmedPolicy& policy : policies) armed.push_back({policy, {cart_}});
    controller_.Arm(armed, nullptr);
  }
  // True if a rate changes.
  bool Second(double cpu_percent) {
    source_.containers[{cart_->root_path, k8s::Metric::kContainerCpu}] = cpu_percent;
    now_ns_ += kSecond;
    return controller_.Evaluate(now_ns_, wall_ns_);
  }

  const std::shared_ptr<const Container> cart_ = PodContainer('a', '1');
  FakeMetrics source_;
  MetricsRegistry registry_;
  std::vector<CaptureOrder> orders_;
  TriggerController controller_{
      {source_, registry_, "node-1",
       [this](CaptureOrder order) { orders_.push_back(std::move(order)); }, nullptr}};
  int64_t now_ns_ = 5000 * kSecond;
  int64_t wall_ns_ = kWallNs;
};

// The wall clock is set back and on by people and NTP.
TEST_F(TriggerControllerTest, ACaptureLastsAsLongAsItSaysWhateverTheWallClockDoes) {
  for (const int64_t jump_ns : {-3600 * kSecond, 3600 * kSecond}) {
    controller_.Arm({}, nullptr);
    Arm({Hot()});
    wall_ns_ = kWallNs;
    EXPECT_TRUE(Second(90));
    ASSERT_THAT(controller_.moment().captures, SizeIs(1)) << jump_ns;
    wall_ns_ += jump_ns;
    for (int i = 1; i < 20; ++i) {
      EXPECT_FALSE(Second(0)) << jump_ns;
      EXPECT_THAT(controller_.moment().captures, SizeIs(1)) << jump_ns << " after " << i << " s";
    }
    EXPECT_TRUE(Second(0)) << jump_ns;
    EXPECT_THAT(controller_.moment().captures, IsEmpty()) << jump_ns;
    now_ns_ += 7200 * kSecond;
  }
}

// Pressure is such a metric, if the kernel does not measure it.
TEST_F(TriggerControllerTest, APolicySaysWhichOfItsRulesCannotHoldHere) {
  std::string memory = CpuRule("full", 80, 0);
  memory.replace(memory.find("ContainerCPU"), 12, "ContainerMemory");
  source_.missing = NoReading::kNotServed;
  for (const bool all : {false, true}) {
    auto policy = std::make_shared<k8s::ProfilingPolicy>(
        *TriggerPolicy("hot", "rules: [" + CpuRule("busy", 80, 0) + ", " + memory +
                                  "], combine: " + (all ? "AllOf" : "AnyOf")));
    policy->uid = "uid-hot";
    Arm({policy});
    Second(0);
    const PolicyFinding finding = controller_.findings().at("uid-hot");
    EXPECT_EQ(finding.reason, "MetricUnavailable");
    EXPECT_EQ(finding.message, "rule full cannot hold here, ContainerMemory: this table is empty");
    EXPECT_EQ(finding.failed, all) << "the other rule may fire by itself";
    source_.containers[{cart_->root_path, k8s::Metric::kContainerMemory}] = 1;
    Second(0);
    EXPECT_EQ(controller_.findings().at("uid-hot").reason, "") << "it is measured again";
    EXPECT_FALSE(controller_.findings().at("uid-hot").failed);
    source_.containers.clear();
    controller_.Arm({}, nullptr);
  }
}

// A counter never falls, and never stands still: also that of a policy that was away for long, or
// is another one by now.
TEST_F(TriggerControllerTest, CountsAPolicyThatComesBack) {
  const auto count = [&](const std::string& family) {
    const std::string page = registry_.Render(ExpositionFormat::kText);
    const std::string series =
        "\nfiretower_trigger_" + family + R"(_total{policy_namespace="default",policy="hot"} )";
    const size_t at = page.find(series);
    return at == std::string::npos ? -1 : std::stoi(page.substr(at + series.size()));
  };
  Arm({Hot()});
  Second(90);
  Second(90);
  EXPECT_EQ(count("evaluations"), 2);
  EXPECT_EQ(count("captures"), 1);
  Arm({});
  now_ns_ += 7200 * kSecond;
  Second(90);
  Arm({Hot()});
  Second(90);
  EXPECT_EQ(count("evaluations"), 3);
  EXPECT_EQ(count("captures"), 2);
  Arm({});
  Arm({Hot()});
  Second(0);
  EXPECT_EQ(count("evaluations"), 4) << "it was away for less than an hour";
  EXPECT_EQ(count("captures"), 2);
}

class NodeWideTest : public TriggerControllerTest {
 protected:
  static ArmedPolicy Policy(const std::string& trigger) {
    k8s::ProfilingPolicy policy =
        *TriggerPolicy("wide", trigger + ", capture: {scope: Node, durationSeconds: 20}",
                       "ClusterProfilingPolicy");
    policy.uid = "uid-wide";
    return std::make_shared<const k8s::ProfilingPolicy>(policy);
  }
  static std::string Rules(const std::string& more = "") {
    return "rules: [" + CpuRule("busy", 80, 0) + more + "]";
  }
  bool Arm(const ArmedPolicy& policy, std::vector<std::shared_ptr<const Container>> targets) {
    return controller_.Arm({{policy, std::move(targets)}}, nullptr);
  }
  // That the whole node is recorded, as sampling is told and as the report is.
  bool IsWide() const {
    const bool told = controller_.moment().node_wide.contains("ClusterProfilingPolicy wide");
    const auto found = controller_.findings().find("uid-wide");
    EXPECT_EQ(told, found != controller_.findings().end() && found->second.node_wide);
    return told;
  }
};

const std::string kLoad =
    ", {name: load, metric: NodeLoad, operator: GreaterThan, target: {type: Value, value: \"4\"}}";

TEST_F(NodeWideTest, RecordsTheNodeWhileATargetRuns) {
  const ArmedPolicy policy = Policy(Rules());
  EXPECT_FALSE(Arm(policy, {}));
  EXPECT_FALSE(IsWide());
  EXPECT_TRUE(Arm(policy, {cart_}));
  EXPECT_TRUE(IsWide());
  EXPECT_FALSE(Arm(policy, {cart_})) << "the same again";
  EXPECT_TRUE(Arm(policy, {}));
  EXPECT_FALSE(IsWide());
}

// A pod's own cgroup is there before and after its containers, and has no rules.
TEST_F(NodeWideTest, APodsCgroupIsNoTargetThatRuns) {
  auto pod = std::make_shared<Container>();
  pod->root_path = cart_->root_path.substr(0, cart_->root_path.rfind('/'));
  pod->path = k8s::ParseCgroupPath(pod->root_path);
  Arm(Policy(Rules()), {pod});
  EXPECT_FALSE(IsWide());
}

TEST_F(NodeWideTest, ARuleOfTheNodeNeedsNobody) {
  Arm(Policy(Rules(kLoad)), {});
  EXPECT_TRUE(IsWide());
}

// Together they hold for a container: without one they never do.
TEST_F(NodeWideTest, AllOfNeedsSomebodyForItsOtherRules) {
  const ArmedPolicy policy = Policy("combine: AllOf, " + Rules(kLoad));
  Arm(policy, {});
  EXPECT_FALSE(IsWide());
  Arm(policy, {cart_});
  EXPECT_TRUE(IsWide());
}

// An OOM kill may end the container of its target.
TEST_F(NodeWideTest, ACaptureOutlivesItsTarget) {
  const ArmedPolicy policy = Policy(Rules());
  Arm(policy, {cart_});
  EXPECT_TRUE(Second(90));
  EXPECT_FALSE(Arm(policy, {}));
  EXPECT_TRUE(IsWide());
  for (int i = 1; i < 20; ++i) EXPECT_FALSE(Second(0));
  EXPECT_TRUE(Second(0)) << "it is over";
  EXPECT_TRUE(Arm(policy, {}));
  EXPECT_FALSE(IsWide());
}

TEST_F(NodeWideTest, ACaptureOfAPolicyThatWasNarrowedRecordsTheNodeNoMore) {
  const ArmedPolicy policy = Policy(Rules());
  Arm(policy, {cart_});
  EXPECT_TRUE(Second(90));
  k8s::ProfilingPolicy narrowed = *policy;
  narrowed.generation = 2;
  narrowed.spec.trigger->capture.scope = k8s::CaptureScope::kPod;
  EXPECT_TRUE(Arm(std::make_shared<const k8s::ProfilingPolicy>(narrowed), {cart_}));
  EXPECT_FALSE(IsWide());
}

// A policy of scope Pod is about its targets alone.
TEST_F(NodeWideTest, OtherScopesRecordTheirTargets) {
  TriggerControllerTest::Arm({Hot()});
  EXPECT_TRUE(Second(90));
  EXPECT_THAT(controller_.moment().node_wide, IsEmpty());
}

}  // namespace
}  // namespace firetower::daemon
