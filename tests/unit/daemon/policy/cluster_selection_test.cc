// SPDX-License-Identifier: Apache-2.0
// Which containers policies take on a node of a cluster, and when that is not known yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/policy/policy_selection.h"
#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Container kCart = PodContainer("89abc", 'a');
const Container kUnknown = PodContainer("00000", 'c');
const Container kDocker = ContainerAt("/docker/" + std::string(64, 'b'));
const Container kUnit = ContainerAt("/system.slice/cron.service");

std::shared_ptr<const LabelStore::Objects> LabelsBy(const std::string& key,
                                                    const k8s::Labels& labels) {
  LabelStore::Objects objects;
  objects[key] = {"uid", std::make_shared<const k8s::Labels>(labels)};
  return std::make_shared<const LabelStore::Objects>(objects);
}

// One pod, shop/cart-0, on node-1.
class ClusterSelection : public ::testing::Test {
 protected:
  ClusterSelection() {
    pod_.namespace_name = "shop";
    pod_.name = "cart-0";
    pod_.uid = pod_.cgroup_uid = kCart.path.pod_uid;
    pod_.labels = {{"app", "cart"}};
    pod_.containers = {{"main", k8s::ContainerKind::kRegular, {kCart.path.container_id}}};
    view_.node_name = "node-1";
    view_.namespaces = LabelsBy("/shop", {{"team", "a"}});
    view_.nodes = LabelsBy("/node-1", {{"pool", "batch"}});
    SetPods();
  }
  void SetPods() {
    view_.pods = std::make_shared<const k8s::PodIndex>(
        k8s::PodIndex::Pods{std::make_shared<const k8s::Pod>(pod_)}, k8s::PodIndex::Pods{});
  }
  Decision Decide(const std::string& documents, const Container& container) const {
    return PolicySchedule(Loaded(documents), 97).At(0, view_)->Decide(container);
  }
  static std::string Of(const std::string& namespace_name, const std::string& rest) {
    std::string document = Document("p", "mode: General, " + kContinuous + rest);
    const std::string name = "{name: p}";
    return document.replace(document.find(name), name.size(),
                            "{name: p, namespace: " + namespace_name + "}");
  }
  static std::string OfCluster(const std::string& rest) {
    return Document("c", "mode: General, " + kContinuous + rest, "ClusterProfilingPolicy");
  }

  k8s::Pod pod_;
  ClusterView view_;
};

TEST_F(ClusterSelection, TakesPodsByLabelsInThePolicysNamespace) {
  const std::string by_label = "targets: {podSelector: {matchLabels: {app: cart}}}";
  EXPECT_TRUE(Decide(Of("shop", by_label), kCart).sampled);
  EXPECT_FALSE(Decide(Of("shop", by_label), kCart).open);
  EXPECT_THAT(Decide(Of("shop", by_label), kCart).policies, ElementsAre("shop/p"));
  EXPECT_FALSE(Decide(Of("front", by_label), kCart).sampled);
  EXPECT_FALSE(
      Decide(Of("shop", "targets: {podSelector: {matchLabels: {app: web}}}"), kCart).sampled);
}

TEST_F(ClusterSelection, WhatIsInNoPodIsAHostProcess) {
  const std::string pods = OfCluster(kAllPods);
  const std::string host = OfCluster("targets: {hostProcesses: Include}");
  EXPECT_TRUE(Decide(pods, kCart).sampled);
  EXPECT_FALSE(Decide(host, kCart).sampled);
  for (const Container& container : {kDocker, kUnit}) {
    EXPECT_FALSE(Decide(pods, container).sampled) << container.root_path;
    EXPECT_TRUE(Decide(host, container).sampled) << container.root_path;
  }
}

TEST_F(ClusterSelection, APodThatIsNotKnownYetIsSampledAndWaits) {
  const Decision decision = Decide(Of("shop", kAllPods + ", priority: 3"), kUnknown);
  EXPECT_TRUE(decision.sampled);
  EXPECT_TRUE(decision.open);
  EXPECT_THAT(decision.policies, IsEmpty()) << "nobody has asked for it yet";
  EXPECT_EQ(decision.frequency_hz, 49u);
  EXPECT_FALSE(Decide(OfCluster("targets: {hostProcesses: Include}"), kUnknown).sampled);
}

TEST_F(ClusterSelection, OnePolicyThatTakesItIsEnough) {
  const Decision decision = Decide(Of("shop", kAllPods) + OfCluster(kAllPods), kUnknown);
  EXPECT_TRUE(decision.sampled);
  EXPECT_TRUE(decision.open) << "the pod may opt out";
  EXPECT_THAT(decision.policies, ElementsAre("c"));
  const PolicySchedule schedule(Loaded(OfCluster(kAllPods)), 97);
  EXPECT_FALSE(schedule.AtAnyTime(view_, 0)->Decide(kUnknown).open) << "it said nothing in time";
  view_.ignore_opt_out = true;
  EXPECT_FALSE(Decide(OfCluster(kAllPods), kUnknown).open);
}

TEST_F(ClusterSelection, APodOfANamespaceThatMayOptOutWaits) {
  EXPECT_FALSE(Decide(OfCluster(kAllPods), kCart).open);
  view_.namespaces = LabelsBy("/other", {});
  EXPECT_TRUE(Decide(OfCluster(kAllPods), kCart).sampled);
  EXPECT_TRUE(Decide(OfCluster(kAllPods), kCart).open);
  view_.namespaces = nullptr;
  EXPECT_FALSE(Decide(OfCluster(kAllPods), kCart).open) << "nobody will ever tell";
}

// No list ever came: the API server is away, or refuses. What needs it runs nowhere, the rest does.
TEST_F(ClusterSelection, WithoutAnyPodsNothingIsWaitedFor) {
  view_.pods = nullptr;
  EXPECT_FALSE(Decide(Of("shop", kAllPods), kCart).sampled);
  EXPECT_TRUE(Decide(OfCluster(kAllPods), kCart).sampled);
  EXPECT_TRUE(Decide(OfCluster("targets: {hostProcesses: Include}"), kUnit).sampled);
}

TEST_F(ClusterSelection, NamespacesAreChosenByLabels) {
  const auto by_team = [](const std::string& team) {
    return OfCluster(
        "targets: {podSelector: {matchLabels: {}}, namespaceSelector: {matchLabels: "
        "{team: " +
        team + "}}}");
  };
  EXPECT_TRUE(Decide(by_team("a"), kCart).sampled);
  EXPECT_FALSE(Decide(by_team("b"), kCart).sampled);
  view_.namespaces = LabelsBy("/other", {});
  EXPECT_TRUE(Decide(by_team("b"), kCart).open) << "the namespace is newer than what is known";
  view_.namespaces = nullptr;
  EXPECT_FALSE(Decide(by_team("a"), kCart).sampled) << "perhaps it is forbidden to read them";
  EXPECT_TRUE(Decide(OfCluster(kAllPods), kCart).sampled);
}

TEST_F(ClusterSelection, ANamespaceOptsOut) {
  view_.namespaces = LabelsBy("/shop", {{"firetower.dev/profile", "false"}});
  EXPECT_FALSE(Decide(OfCluster(kAllPods), kCart).sampled);
  view_.ignore_opt_out = true;
  EXPECT_TRUE(Decide(OfCluster(kAllPods), kCart).sampled) << "the platform says so";
}

TEST_F(ClusterSelection, NodesAreChosenByLabels) {
  const auto in_pool = [](const std::string& pool) {
    return OfCluster(kAllPods + ", nodeSelector: {matchLabels: {pool: " + pool + "}}");
  };
  EXPECT_TRUE(Decide(in_pool("batch"), kCart).sampled);
  EXPECT_FALSE(Decide(in_pool("web"), kCart).sampled);
  EXPECT_EQ(PolicySchedule(Loaded(in_pool("web")), 97).At(0, view_)->frequency_hz(), 1u)
      << "its rate does not count here";
  view_.nodes = nullptr;
  EXPECT_FALSE(Decide(in_pool("batch"), kCart).sampled);
}

TEST_F(ClusterSelection, ContainersAreChosenByTheirNamesInThePod) {
  const auto with = [](const std::string& containers) {
    return OfCluster("targets: {podSelector: {matchLabels: {}}, containers: {" + containers + "}}");
  };
  EXPECT_TRUE(Decide(with("include: [main]"), kCart).sampled);
  EXPECT_FALSE(Decide(with("exclude: [main]"), kCart).sampled);
  pod_.containers[0].ids.clear();  // kubelet has not said it yet
  SetPods();
  EXPECT_TRUE(Decide(with("include: [main]"), kCart).open);
  EXPECT_FALSE(Decide(OfCluster(kAllPods), kCart).open);
}

// Overlap rule 5: priority, then namespaced over cluster, then the older one, then the name.
TEST_F(ClusterSelection, TheOlderOfTwoThatContradictComesFirst) {
  std::vector<LoadedPolicy> policies =
      Loaded(Document("a", "mode: General, stacks: User, " + kContinuous + kAllPods,
                      "ClusterProfilingPolicy") +
             Document("b", "mode: General, stacks: Kernel, " + kContinuous + kAllPods,
                      "ClusterProfilingPolicy"));
  policies[0].policy.created_ns = 2000;
  policies[1].policy.created_ns = 1000;
  EXPECT_EQ(PolicySchedule(policies, 97).At(0, view_)->Decide(kCart).stacks, StackParts::kKernel);
  std::swap(policies[0].policy.created_ns, policies[1].policy.created_ns);
  EXPECT_EQ(PolicySchedule(policies, 97).At(0, view_)->Decide(kCart).stacks, StackParts::kUser);
}

// A pod that became known when its policy's turn was over is still that policy's.
TEST_F(ClusterSelection, WheneverLooksPastTheSchedule) {
  const PolicySchedule schedule(
      Loaded(
          Document("c",
                   "mode: General, general: {periodSeconds: 300, durationSeconds: 60}, " + kAllPods,
                   "ClusterProfilingPolicy") +
          Document("s", "mode: General, suspend: true, " + kAllPods, "ClusterProfilingPolicy")),
      97);
  EXPECT_FALSE(schedule.At(100 * kNsPerSecond, view_)->Decide(kCart).sampled);
  EXPECT_THAT(schedule.AtAnyTime(view_, 100 * kNsPerSecond)->Decide(kCart).policies,
              ElementsAre("c"));
}

TEST_F(ClusterSelection, WheneverForgetsPoliciesWhoseDeadlineIsLongOver) {
  const PolicySchedule schedule(
      Loaded(Document("c", "mode: General, activeDeadlineSeconds: 60, " + kContinuous + kAllPods,
                      "ClusterProfilingPolicy")),
      97);
  EXPECT_FALSE(schedule.At(70 * kNsPerSecond, view_)->Decide(kCart).sampled);
  EXPECT_TRUE(schedule.AtAnyTime(view_, 70 * kNsPerSecond)->Decide(kCart).sampled);
  EXPECT_FALSE(schedule.AtAnyTime(view_, 3600 * kNsPerSecond)->Decide(kCart).sampled);
}

// One takes it surely, another perhaps: whose settings count is not known yet.
TEST_F(ClusterSelection, WhatAnyPolicyMayStillTakeIsOpen) {
  pod_.containers[0].ids.clear();  // kubelet has not said it yet
  SetPods();
  const std::string by_name =
      "targets: {podSelector: {matchLabels: {}}, containers: {include: [main]}}";
  const Decision decision = Decide(Of("shop", by_name) + OfCluster(kAllPods), kCart);
  EXPECT_TRUE(decision.open);
  EXPECT_THAT(decision.policies, ElementsAre("c"));
}

// Watches deliver namespaces by name, and only this node.
TEST(ClusterLabels, HoldsWhatTheWatchesTell) {
  int changes = 0;
  ClusterLabels labels("node-1", [&] { ++changes; });
  EXPECT_EQ(ClusterLabels::Namespaces().path, "/api/v1/namespaces");
  EXPECT_EQ(labels.Node().path, "/api/v1/nodes");
  EXPECT_EQ(labels.Node().field_selector, "metadata.name=node-1");
  EXPECT_EQ(labels.View(nullptr).NamespaceLabels("shop"), nullptr);
  const auto tell = [](k8s::ObjectConsumer& to, const std::string& json) {
    k8s::FieldSet all;
    all.Keep({});
    to.BeginSet();
    to.AddToSet(*k8s::ParseObject(json, all));
    to.CommitSet();
  };
  tell(labels.namespaces(), R"({"metadata":{"name":"shop","uid":"u","labels":{"team":"a"}}})");
  tell(labels.nodes(), R"({"metadata":{"name":"node-1","uid":"v"}})");
  EXPECT_EQ(changes, 2);
  const ClusterView view = labels.View(nullptr);
  ASSERT_NE(view.NamespaceLabels("shop"), nullptr);
  EXPECT_EQ(view.NamespaceLabels("shop")->at("team"), "a");
  EXPECT_EQ(view.NamespaceLabels("front"), nullptr);
  ASSERT_NE(view.NodeLabels(), nullptr);
  EXPECT_TRUE(view.NodeLabels()->empty());
}

TEST_F(ClusterSelection, LabelsDrawNoWarningInACluster) {
  const PolicySchedule schedule(Loaded(Of("shop", "targets: {podSelector: {matchLabels: {a: b}}}")),
                                97);
  EXPECT_THAT(schedule.Warnings(true), IsEmpty());
  EXPECT_EQ(schedule.Warnings().size(), 1u);
}

}  // namespace
}  // namespace firetower::daemon
