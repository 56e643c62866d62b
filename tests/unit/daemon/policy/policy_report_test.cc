// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_report.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

using k8s::PolicyState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<const LabelStore::Objects> LabelsBy(const std::string& key,
                                                    const k8s::Labels& labels) {
  LabelStore::Objects objects;
  objects[key] = {"uid", std::make_shared<const k8s::Labels>(labels)};
  return std::make_shared<const LabelStore::Objects>(objects);
}

// Two pods of shop, cart-0 and cart-1 (which has no container yet), and front/web-0; on node-1.
class PolicyReport : public ::testing::Test {
 protected:
  PolicyReport() {
    view_.node_name = "node-1";
    view_.namespaces = LabelsBy("/shop", {{"team", "a"}});
    view_.nodes = LabelsBy("/node-1", {{"pool", "batch"}});
    Pods({PodOf("shop", "cart-0", true), PodOf("shop", "cart-1", false),
          PodOf("front", "web-0", true)});
  }
  static std::shared_ptr<const k8s::Pod> PodOf(const std::string& space, const std::string& name,
                                               bool runs) {
    k8s::Pod pod;
    pod.namespace_name = space;
    pod.name = name;
    pod.uid = pod.cgroup_uid = "uid-of-" + name;
    pod.labels = {{"app", name.substr(0, name.find('-'))}};
    pod.containers = {{"main", k8s::ContainerKind::kRegular, {}}};
    if (runs) pod.containers[0].ids = {std::string(64, 'a')};
    return std::make_shared<const k8s::Pod>(pod);
  }
  void Pods(k8s::PodIndex::Pods pods) {
    view_.pods = std::make_shared<const k8s::PodIndex>(std::move(pods), k8s::PodIndex::Pods{});
  }
  // Makes a policy as from the API server: in the namespace shop, with a uid.
  static LoadedPolicy Policy(const std::string& name, const std::string& spec,
                             const std::string& kind = "ProfilingPolicy") {
    LoadedPolicy loaded = Loaded(Document(name, spec, kind)).at(0);
    loaded.policy.namespace_name = kind == "ProfilingPolicy" ? "shop" : "";
    loaded.policy.uid = "uid-" + name;
    loaded.policy.generation = 7;
    return loaded;
  }
  std::vector<k8s::PolicyRow> Rows(const std::vector<LoadedPolicy>& policies,
                                   const PolicyFindings& findings = {},
                                   const AgentFaults& faults = {}) const {
    return ReportPolicies(policies, view_, wall_ns_, findings, faults);
  }

  // Returns state and reason of the policy with this name: "Running/Overridden".
  static std::string Says(const std::vector<k8s::PolicyRow>& rows, const std::string& name) {
    for (const k8s::PolicyRow& row : rows) {
      if (row.name == name) return fmt::format("{}/{}", PolicyStateName(row.state), row.reason);
    }
    return "none";
  }

  ClusterView view_;
  int64_t wall_ns_ = 100 * kNsPerSecond;
};

const std::string kCarts = "targets: {podSelector: {matchLabels: {app: cart}}}";

TEST_F(PolicyReport, CountsThePodsThatItTakes) {
  const auto rows = Rows({Policy("p", "mode: General, " + kCarts)});
  ASSERT_THAT(rows, SizeIs(1));
  k8s::PolicyRow expected;
  expected.namespace_name = "shop";
  expected.name = "p";
  expected.uid = "uid-p";
  expected.generation = 7;
  expected.state = PolicyState::kRunning;
  expected.pods = 2;
  expected.profiled_pods = 1;
  EXPECT_EQ(rows[0], expected);
}

// Periods do not change a report, or every node would write twice in five minutes.
TEST_F(PolicyReport, IsTheSameWithinAndBetweenPeriods) {
  const std::vector<LoadedPolicy> policies = {Policy("p", "mode: General, " + kCarts)};
  wall_ns_ = 300 * kNsPerSecond;
  const auto within = Rows(policies);
  wall_ns_ += 100 * kNsPerSecond;
  EXPECT_EQ(Rows(policies), within);
}

TEST_F(PolicyReport, TellsNothingOfWhatMatchesNothing) {
  EXPECT_THAT(Rows({Policy("p", "mode: General, targets: {podSelector: {matchLabels: {a: b}}}"),
                    Policy("q", "mode: General, suspend: true, " + kCarts),
                    Policy("t",
                           "mode: General, profiles: [{type: Event, events: [{name: "
                           "\"sched:sched_switch\", period: 1}]}], " +
                               kCarts)}),
              IsEmpty());
  LoadedPolicy of_file = Policy("f", "mode: General, " + kCarts);
  of_file.policy.uid = "";
  EXPECT_THAT(Rows({of_file}), IsEmpty());
}

TEST_F(PolicyReport, TellsNothingBeforePodsAreKnown) {
  view_.pods = nullptr;
  EXPECT_THAT(Rows({Policy("p", "mode: General, " + kCarts)}), IsEmpty());
}

TEST_F(PolicyReport, EndsWithTheDeadline) {
  LoadedPolicy policy = Policy("p", "mode: General, activeDeadlineSeconds: 60, " + kCarts);
  policy.since_ns = 50 * kNsPerSecond;
  wall_ns_ = 110 * kNsPerSecond - 1;
  EXPECT_THAT(Rows({policy}), SizeIs(1));
  ++wall_ns_;
  EXPECT_THAT(Rows({policy}), IsEmpty());
}

TEST_F(PolicyReport, ANodeThatIsNotTakenIsSkipped) {
  const auto rows =
      Rows({Policy("p", "mode: General, nodeSelector: {matchLabels: {pool: web}}, " + kCarts),
            Policy("q",
                   "mode: General, nodeSelector: {matchLabels: {pool: web}}, "
                   "targets: {podSelector: {matchLabels: {a: b}}}")});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].state, PolicyState::kSkipped);
  EXPECT_EQ(rows[0].pods, 2);
  EXPECT_EQ(rows[0].profiled_pods, 0);
}

TEST_F(PolicyReport, HostProcessesAreOnEveryNode) {
  const auto rows = Rows(
      {Policy("h", "mode: General, targets: {hostProcesses: Include}", "ClusterProfilingPolicy")});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_TRUE(rows[0].cluster);
  EXPECT_EQ(rows[0].namespace_name, "");
  EXPECT_EQ(rows[0].pods, 0);
}

TEST_F(PolicyReport, WhatFailsIsToldWithItsReason) {
  PolicyFindings findings;
  findings["uid-p"] = {true, "Refused", "no program is loaded", 0, 0};
  findings["uid-q"] = {false, "BudgetExceeded", "at 12 Hz", 3, 9 * kNsPerSecond};
  const auto rows = Rows(
      {Policy("p", "mode: General, " + kCarts), Policy("q", "mode: General, " + kCarts)}, findings);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].state, PolicyState::kFailed);
  EXPECT_EQ(rows[0].reason, "Refused");
  EXPECT_EQ(rows[0].profiled_pods, 0);
  EXPECT_EQ(rows[1].state, PolicyState::kRunning);
  EXPECT_EQ(rows[1].reason, "BudgetExceeded");
  EXPECT_EQ(rows[1].captures, 3);
  EXPECT_EQ(rows[1].last_capture_ns, 9 * kNsPerSecond);
}

TEST_F(PolicyReport, AStoreThatFailsCutsWhatIsStored) {
  AgentFaults faults;
  faults.store_fails = true;
  const std::vector<LoadedPolicy> policies = {
      Policy("shown", "mode: General, export: {objectStore: {mode: Disabled}}, " + kCarts),
      Policy("spikes",
             "mode: Trigger, trigger: {rules: [{name: killed, metric: OOMKill}]}, " + kCarts),
      Policy("stored", "mode: General, " + kCarts), Policy("tight", "mode: General, " + kCarts)};
  PolicyFindings findings;
  findings["uid-tight"].reason = "BudgetExceeded";
  const auto rows = Rows(policies, findings, faults);
  EXPECT_EQ(Says(rows, "shown"), "Running/");
  EXPECT_EQ(Says(rows, "spikes"), "Armed/StoreUnreachable");
  EXPECT_EQ(Says(rows, "stored"), "Running/StoreUnreachable");
  EXPECT_EQ(Says(rows, "tight"), "Running/BudgetExceeded") << "what is its own comes first";
  EXPECT_EQ(Says(Rows(policies), "stored"), "Running/") << "it takes writes again";
}

// The frames whose names are lost are those of some policies only.
TEST_F(PolicyReport, AMissingCapabilityCutsWhoAsksForItsNames) {
  const std::vector<LoadedPolicy> policies = {
      Policy("both", "mode: General, " + kCarts),
      Policy("kernel",
             "mode: General, stacks: Kernel, targets: {workloadRefs: [{kind: Pod, "
             "name: cart-1}]}"),
      Policy("user",
             "mode: General, stacks: User, targets: {workloadRefs: [{kind: Pod, name: "
             "cart-1}]}")};
  AgentFaults faults;
  faults.user_names = "no user names";
  auto rows = Rows(policies, {}, faults);
  EXPECT_EQ(Says(rows, "both"), "Running/MissingCapability");
  EXPECT_EQ(Says(rows, "kernel"), "Running/");
  EXPECT_EQ(Says(rows, "user"), "Running/MissingCapability");
  EXPECT_EQ(rows[0].message, "no user names");
  faults = {};
  faults.kernel_names = "no kernel names";
  rows = Rows(policies, {}, faults);
  EXPECT_EQ(Says(rows, "both"), "Running/MissingCapability");
  EXPECT_EQ(Says(rows, "kernel"), "Running/MissingCapability");
  EXPECT_EQ(Says(rows, "user"), "Running/");
  faults.user_names = "no user names";
  EXPECT_EQ(Rows(policies, {}, faults)[0].message, "no user names; no kernel names");
}

TEST_F(PolicyReport, ARateAboveTheCeilingIsTold) {
  const std::string rate = "profiles: [{type: CPU, frequencyHertz: 99}]";
  const std::string trigger =
      "mode: Trigger, trigger: {rules: [{name: killed, metric: OOMKill}], armedFrequencyHertz: 19, "
      "capture: {frequencyHertz: 100}}, ";
  const std::vector<LoadedPolicy> policies = {
      Policy("at", "mode: General, " + kCarts + ", " + rate),
      Policy("silent", "mode: General, " + kCarts), Policy("spikes", trigger + kCarts)};
  AgentFaults faults;
  faults.ceiling_hz = 99;
  auto rows = Rows(policies, {}, faults);
  EXPECT_EQ(Says(rows, "at"), "Running/");
  EXPECT_EQ(Says(rows, "silent"), "Running/") << "the default rate is below it";
  EXPECT_EQ(Says(rows, "spikes"), "Armed/ExceedsClusterCeiling") << "its captures are above it";
  faults.ceiling_hz = 98;
  rows = Rows(policies, {}, faults);
  EXPECT_EQ(Says(rows, "at"), "Running/ExceedsClusterCeiling");
  EXPECT_EQ(rows[0].message,
            "it asks for 99 Hz, but is sampled at 98: the agent's ceiling, max-frequency-hertz");
  faults.kernel_names = "no kernel names";
  EXPECT_EQ(Says(Rows(policies, {}, faults), "at"), "Running/MissingCapability");
}

TEST_F(PolicyReport, OptOutsThatNobodyCanKnowAreTold) {
  AgentFaults faults;
  faults.opt_outs = "namespaces are not read";
  const auto rows = Rows({Policy("p", "mode: General, " + kCarts)}, {}, faults);
  EXPECT_EQ(Says(rows, "p"), "Running/OptOutsUnknown");
  EXPECT_EQ(rows[0].message, "namespaces are not read");
}

TEST_F(PolicyReport, ADaemonThatSeesNoProcessIsTold) {
  AgentFaults faults;
  faults.processes = "a PID namespace of its own";
  const auto rows = Rows({Policy("p", "mode: General, " + kCarts)}, {}, faults);
  EXPECT_EQ(Says(rows, "p"), "Running/MissingHostPID");
  EXPECT_EQ(rows[0].message, "a PID namespace of its own");
}

TEST_F(PolicyReport, CpusThatAreNotThereAreTold) {
  const std::vector<LoadedPolicy> policies = {
      Policy("none", "mode: Filter, filter: {cpus: \"4-5\"}, " + kCarts),
      Policy("some", "mode: Filter, filter: {cpus: \"3-4000\"}, " + kCarts)};
  EXPECT_EQ(Says(Rows(policies), "none"), "Running/") << "it is not known how many there are";
  AgentFaults faults;
  faults.cpu_end = 4;
  const auto rows = Rows(policies, {}, faults);
  EXPECT_EQ(Says(rows, "none"), "Failed/NoSuchCPU");
  EXPECT_EQ(rows[0].message, "filter.cpus: none of 4-5 is on this node, whose last is 3");
  EXPECT_EQ(Says(rows, "some"), "Running/");
}

TEST_F(PolicyReport, WhoContradictsAHigherPriorityIsOverridden) {
  const auto rows =
      Rows({Policy("high",
                   "mode: General, priority: 5, stacks: User, targets: {workloadRefs: "
                   "[{kind: Pod, name: cart-0}]}"),
            Policy("part", "mode: General, " + kCarts),
            Policy("whole", "mode: General, targets: {workloadRefs: [{kind: Pod, name: cart-0}]}"),
            Policy("agrees",
                   "mode: General, stacks: User, targets: {workloadRefs: [{kind: Pod, "
                   "name: cart-0}]}")});
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_EQ(Says(rows, "high"), "Running/");
  EXPECT_EQ(Says(rows, "part"), "Running/Overridden");
  EXPECT_EQ(Says(rows, "whole"), "Overridden/Overridden");
  EXPECT_EQ(Says(rows, "agrees"), "Running/");
}

// Which stacks are kept is decided for a container: policies that take different containers of a
// pod do not contradict each other.
TEST_F(PolicyReport, IsOverriddenByTheContainer) {
  auto pod = std::make_shared<k8s::Pod>(*PodOf("shop", "cart-0", true));
  pod->containers.push_back({"proxy", k8s::ContainerKind::kRegular, {std::string(64, 'b')}});
  Pods({pod});
  const auto containers = [](const std::string& include) {
    return "targets: {podSelector: {matchLabels: {app: cart}}, containers: {include: [" + include +
           "]}}";
  };
  const auto rows =
      Rows({Policy("high", "mode: General, priority: 5, stacks: User, " + containers("main")),
            Policy("other", "mode: General, " + containers("proxy")),
            Policy("part", "mode: General, " + kCarts),
            Policy("same", "mode: General, " + containers("main"))});
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_EQ(Says(rows, "high"), "Running/");
  EXPECT_EQ(Says(rows, "other"), "Running/");
  EXPECT_EQ(Says(rows, "part"), "Running/Overridden") << "in one container of two";
  EXPECT_EQ(Says(rows, "same"), "Overridden/Overridden");
  std::vector<int64_t> profiled;
  for (const k8s::PolicyRow& row : rows) profiled.push_back(row.profiled_pods);
  EXPECT_THAT(profiled, ElementsAre(1, 1, 1, 0)) << "in the order of the names";
}

// Until it fires, an armed policy without a rate samples nothing and decides nothing.
TEST_F(PolicyReport, SaysThatTheKernelsLocksAreNotTold) {
  const std::string locks = "mode: General, profiles: [{type: Lock}], " + kCarts;
  AgentFaults faults;
  faults.types.kernel_locks = "before Linux 5.19";
  const auto rows = Rows({Policy("p", locks)}, {}, faults);
  EXPECT_EQ(rows.at(0).reason, "KernelLocksUnavailable");
  EXPECT_EQ(rows[0].state, PolicyState::kRunning);
  EXPECT_EQ(Rows({Policy("p", "mode: General, profiles: [{type: OffCPU}], " + kCarts)}, {}, faults)
                .at(0)
                .reason,
            "");
}

TEST_F(PolicyReport, SaysWhichRuntimeIsNotSupported) {
  AgentFaults faults;
  faults.types.runtimes = {{"shop/p", "CPython 3.7 (/usr/bin/python3.7): no names"}};
  const std::string general = "mode: General, " + kCarts;
  const auto rows = Rows({Policy("p", general), Policy("q", general)}, {}, faults);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].reason, "RuntimeUnsupported");
  EXPECT_THAT(rows[0].message, ::testing::HasSubstr("/usr/bin/python3.7"));
  EXPECT_EQ(rows[0].state, PolicyState::kRunning);
  EXPECT_EQ(rows[1].reason, "");
  EXPECT_EQ(Rows({Policy("p", "stacks: Kernel, " + general)}, {}, faults).at(0).reason, "");
}

TEST_F(PolicyReport, SaysWhichAllocationsAreNotSampled) {
  const std::string memory = "mode: General, profiles: [{type: Memory}], " + kCarts;
  AgentFaults faults;
  EXPECT_EQ(Rows({Policy("p", memory)}, {}, faults).at(0).reason, "");
  faults.types.heaps = {
      {"shop/p", {"AllocationsTooFrequent", "the allocations of redis (7) are not sampled"}}};
  auto rows = Rows({Policy("p", memory), Policy("q", memory)}, {}, faults);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].reason, "AllocationsTooFrequent");
  EXPECT_THAT(rows[0].message, ::testing::HasSubstr("redis (7)"));
  EXPECT_EQ(rows[0].state, PolicyState::kRunning);
  EXPECT_EQ(rows[1].reason, "");
  faults.types.allocations = "this kernel has no uprobes";
  rows = Rows({Policy("p", memory)}, {}, faults);
  EXPECT_EQ(rows[0].reason, "AllocationsUnavailable");
  EXPECT_EQ(rows[0].state, PolicyState::kRunning) << "it has page faults";
  faults.types.events = {{"page-faults", "no such event"}};
  rows = Rows({Policy("p", memory)}, {}, faults);
  EXPECT_EQ(rows[0].state, PolicyState::kFailed);
}

TEST_F(PolicyReport, WhatSamplesNothingOverridesNobody) {
  const auto rows =
      Rows({Policy("idle", "mode: Trigger, priority: 5, stacks: User, " + kCarts +
                               ", trigger: {rules: [{name: killed, metric: OOMKill}], "
                               "armedFrequencyHertz: 0, capture: {preTriggerSeconds: 0}}"),
            Policy("p", "mode: General, " + kCarts)});
  EXPECT_EQ(Says(rows, "idle"), "Armed/");
  EXPECT_EQ(Says(rows, "p"), "Running/");
}

// The budget has no room for it, so the next policy decides.
TEST_F(PolicyReport, WhatTheBudgetDroppedOverridesNobody) {
  PolicyFinding dropped;
  dropped.failed = dropped.dropped = true;
  dropped.reason = "BudgetExceeded";
  const auto rows = Rows({Policy("high", "mode: General, priority: 5, stacks: User, " + kCarts),
                          Policy("p", "mode: General, " + kCarts)},
                         {{"uid-high", dropped}});
  EXPECT_EQ(Says(rows, "high"), "Failed/BudgetExceeded");
  EXPECT_EQ(Says(rows, "p"), "Running/");
}

const std::string kNodeScope =
    "mode: Trigger, targets: {podSelector: {matchLabels: {app: cart}}}, trigger: {rules: [{name: "
    "killed, metric: OOMKill}], capture: {scope: Node}}";

// Its targets are those of its rules, but it records all pods that do not opt out.
TEST_F(PolicyReport, ScopeNodeProfilesTheNode) {
  view_.namespaces = LabelsBy("/front", {});
  auto away = std::make_shared<k8s::Pod>(*PodOf("front", "web-1", true));
  away->labels["firetower.dev/profile"] = "false";
  Pods({PodOf("front", "web-0", true), away, PodOf("front", "web-2", false)});
  const std::vector<LoadedPolicy> policies = {Policy("wide", kNodeScope, "ClusterProfilingPolicy")};
  EXPECT_THAT(Rows(policies), IsEmpty()) << "none of its targets runs here";

  PolicyFindings findings;
  findings["uid-wide"].node_wide = true;
  const auto rows = Rows(policies, findings);
  ASSERT_THAT(rows, SizeIs(1)) << "as with a rule about the node";
  EXPECT_EQ(rows[0].state, PolicyState::kArmed);
  EXPECT_EQ(rows[0].pods, 0);
  EXPECT_EQ(rows[0].profiled_pods, 1);
}

// Its pod ended, or its container is about to start.
TEST_F(PolicyReport, ScopeNodeProfilesNothingWhereNothingCanFire) {
  const auto rows =
      Rows({Policy("wide", kNodeScope + ", stacks: User, priority: 9", "ClusterProfilingPolicy"),
            Policy("p", "mode: General, " + kCarts)});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[1].name, "wide");
  EXPECT_EQ(rows[1].pods, 2);
  EXPECT_EQ(rows[1].profiled_pods, 0);
  EXPECT_EQ(Says(rows, "p"), "Running/") << "and overrides nobody";
}

TEST_F(PolicyReport, ScopeNodeContradictsOtherPoliciesEverywhere) {
  PolicyFindings findings;
  findings["uid-wide"].node_wide = true;
  const auto rows =
      Rows({Policy("wide", kNodeScope + ", stacks: User, priority: 9", "ClusterProfilingPolicy"),
            Policy("p",
                   "mode: General, targets: {workloadRefs: [{kind: Pod, name: "
                   "cart-0}]}")},
           findings);
  EXPECT_EQ(Says(rows, "wide"), "Armed/");
  EXPECT_EQ(Says(rows, "p"), "Overridden/Overridden");
}

TEST_F(PolicyReport, IsInOneOrder) {
  const auto rows = Rows({Policy("b", "mode: General, priority: 1, " + kCarts),
                          Policy("c", "mode: General, " + kAllPods, "ClusterProfilingPolicy"),
                          Policy("a", "mode: General, " + kCarts)});
  std::vector<std::string> names;
  for (const k8s::PolicyRow& row : rows) names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace firetower::daemon
