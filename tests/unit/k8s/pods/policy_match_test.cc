// SPDX-License-Identifier: Apache-2.0
// Which of the real pods a policy takes. Expectations are those of the reference page of the policy
// kinds and of Kubernetes' own selectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "k8s/policy/load.h"
#include "k8s/policy/match.h"
#include "tests/unit/k8s/pods/real_pods.h"

namespace firetower::k8s {
namespace {

using ::testing::HasSubstr;

Pod RealPod(const std::string& prefix) {
  Result<Pod> pod = PodOf(RealPodNode(prefix));
  EXPECT_TRUE(pod) << pod.error().message();
  return pod.value_or(Pod{});
}

ProfilingPolicy Policy(const std::string& targets, const std::string& rest = "",
                       const std::string& kind = "ProfilingPolicy",
                       const std::string& namespace_name = "shop") {
  const std::string space = kind == "ProfilingPolicy" ? ", namespace: " + namespace_name : "";
  PolicyFileResult result = ParsePolicies(
      "apiVersion: firetower.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: p" + space +
          "}\nspec: {mode: General, targets: {" + targets + "}" + rest + "}\n",
      "p.yaml");
  for (const PolicyError& error : result.errors) ADD_FAILURE() << error.ToString();
  return result.policies.empty() ? ProfilingPolicy{} : result.policies[0];
}
ProfilingPolicy ClusterPolicy(const std::string& targets, const std::string& rest = "") {
  return Policy(targets, rest, "ClusterProfilingPolicy");
}

const std::string kAll = "podSelector: {matchLabels: {}}";
const Labels kNoLabels;

Match Takes(const ProfilingPolicy& policy, const Pod& pod, const Labels* space = &kNoLabels) {
  return MatchPod(policy, &pod, pod.cgroup_uid, space).match;
}

class PolicyMatch : public ::testing::Test {
 protected:
  const Pod checkout_ = RealPod("checkout-7d9859fcc4-blzzb");
  const Pod db_ = RealPod("db-0");
  const Pod report_ = RealPod("report-29921508");
  const Pod crash_ = RealPod("crash");
};

TEST_F(PolicyMatch, ANamespacedPolicyTakesPodsOfItsNamespaceOnly) {
  EXPECT_EQ(Takes(Policy(kAll), checkout_), Match::kYes);
  const ProfilingPolicy elsewhere = Policy(kAll, "", "ProfilingPolicy", "front");
  EXPECT_EQ(Takes(elsewhere, checkout_), Match::kNo);
  EXPECT_THAT(MatchPod(elsewhere, &checkout_, checkout_.uid, &kNoLabels).why,
              HasSubstr("another namespace"));
  EXPECT_EQ(Takes(ClusterPolicy(kAll), checkout_), Match::kYes);
}

TEST_F(PolicyMatch, APodSelectorAsksTheLabels) {
  Pod pod = checkout_;
  pod.labels = {{"app", "cart"}, {"tier", "web"}};
  EXPECT_EQ(Takes(Policy("podSelector: {matchLabels: {app: cart}}"), pod), Match::kYes);
  EXPECT_EQ(Takes(Policy("podSelector: {matchLabels: {app: cart, tier: db}}"), pod), Match::kNo);
  EXPECT_EQ(Takes(Policy("podSelector: {matchExpressions: [{key: canary, operator: NotIn, values: "
                         "[\"yes\"]}]}"),
                  pod),
            Match::kYes)
      << "NotIn holds for an absent label";
}

TEST_F(PolicyMatch, AWorkloadIsWhatAPersonDeployedOrWhatControlsThePod) {
  const auto ref = [](const std::string& kind, const std::string& name) {
    return Policy("workloadRefs: [{kind: " + kind + ", name: " + name + "}]");
  };
  EXPECT_EQ(Takes(ref("Deployment", "checkout"), checkout_), Match::kYes);
  EXPECT_EQ(Takes(ref("ReplicaSet", "checkout-7d9859fcc4"), checkout_), Match::kYes);
  EXPECT_EQ(Takes(ref("Pod", "checkout-7d9859fcc4-blzzb"), checkout_), Match::kYes);
  EXPECT_EQ(Takes(ref("StatefulSet", "checkout"), checkout_), Match::kNo);
  EXPECT_EQ(Takes(ref("Deployment", "check"), checkout_), Match::kNo);
  EXPECT_EQ(Takes(ref("StatefulSet", "db"), db_), Match::kYes);
  EXPECT_EQ(Takes(ref("CronJob", "report"), report_), Match::kYes);
  EXPECT_EQ(Takes(ref("Job", "report-29921508"), report_), Match::kYes);
  EXPECT_EQ(Takes(ref("Pod", "crash"), crash_), Match::kYes);
}

TEST_F(PolicyMatch, SelectorAndWorkloadsAddUp) {
  const ProfilingPolicy both = Policy(
      "podSelector: {matchLabels: {nobody: has}}, workloadRefs: [{kind: StatefulSet, name: db}]");
  EXPECT_EQ(Takes(both, db_), Match::kYes);
  EXPECT_EQ(Takes(both, checkout_), Match::kNo);
}

TEST_F(PolicyMatch, ANamespaceIsChosenByItsLabels) {
  const ProfilingPolicy policy =
      ClusterPolicy(kAll + ", namespaceSelector: {matchLabels: {team: a}}");
  const Labels team_a = {{"team", "a"}};
  const Labels team_b = {{"team", "b"}};
  EXPECT_EQ(Takes(policy, checkout_, &team_a), Match::kYes);
  EXPECT_EQ(Takes(policy, checkout_, &team_b), Match::kNo);
  EXPECT_EQ(Takes(policy, checkout_, nullptr), Match::kOpen);
  const ProfilingPolicy picky = ClusterPolicy(
      "podSelector: {matchLabels: {nobody: has}}, namespaceSelector: {matchLabels: {team: a}}");
  EXPECT_EQ(Takes(picky, checkout_, nullptr), Match::kNo) << "whatever the namespace is like";
}

TEST_F(PolicyMatch, AnUnknownPodLeavesItOpenWhereItCouldMatter) {
  const auto unknown = [&](const ProfilingPolicy& policy) {
    return MatchPod(policy, nullptr, checkout_.uid, nullptr).match;
  };
  EXPECT_EQ(unknown(Policy(kAll)), Match::kOpen) << "its namespace is not known";
  EXPECT_EQ(unknown(ClusterPolicy(kAll)), Match::kYes) << "whatever the pod is like";
  EXPECT_EQ(unknown(ClusterPolicy("podSelector: {matchLabels: {a: b}}")), Match::kOpen);
  EXPECT_EQ(unknown(ClusterPolicy("workloadRefs: [{kind: Pod, name: x}]")), Match::kOpen);
  EXPECT_EQ(unknown(ClusterPolicy("hostProcesses: Include")), Match::kNo);
}

TEST_F(PolicyMatch, OptingOutBeatsEveryPolicy) {
  Pod pod = checkout_;
  pod.opted_out = true;
  EXPECT_EQ(Takes(ClusterPolicy(kAll), pod), Match::kNo);
  const Labels out = {{"firetower.dev/profile", "false"}};
  const Labels in = {{"firetower.dev/profile", "true"}};
  EXPECT_EQ(Takes(ClusterPolicy(kAll), checkout_, &out), Match::kNo);
  EXPECT_EQ(Takes(Policy(kAll), checkout_, &out), Match::kNo);
  EXPECT_EQ(Takes(Policy(kAll), checkout_, &in), Match::kYes);
}

TEST_F(PolicyMatch, AShareOfThePodsIsTheSameForEveryone) {
  const ProfilingPolicy half = Policy(kAll + ", podPercent: 50");
  Pod pod = checkout_;
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    pod.cgroup_uid = fmt::format("48d24770-3d7e-40e7-a11a-{:012x}", i * 7919);
    const Match now = Takes(half, pod);
    taken += now == Match::kYes ? 1 : 0;
    // The answer is the same before its object is known: a pod outside the share is never waited
    // for.
    EXPECT_EQ(MatchPod(half, nullptr, pod.cgroup_uid, nullptr).match == Match::kNo,
              now == Match::kNo);
  }
  EXPECT_NEAR(taken, 500, 80);  // five standard deviations of a fair coin
}

TEST_F(PolicyMatch, ContainersAreChosenByName) {
  const std::string cart = "0bf1a356c13995d18a9b5658bc5ebb30d09dd920912630dd01b5cd32fef8fff7";
  const std::string proxy = "be3129b43fb1925a09f321bab5cfe6c2613194293b2ccb912570243bdebb8bb2";
  const std::string sandbox = "a05c10cc70779c7c57ebb35620a354f7df700547cb604d7869445fca07e9e93b";
  const auto match = [&](const std::string& containers, const std::string& id, const Pod* pod) {
    const ProfilingPolicy policy = Policy(kAll + ", containers: {" + containers + "}");
    return MatchContainer(policy.spec.targets, pod, id).match;
  };
  EXPECT_EQ(match("include: [cart]", cart, &checkout_), Match::kYes);
  EXPECT_EQ(match("include: [cart]", proxy, &checkout_), Match::kNo);
  EXPECT_EQ(match("exclude: [proxy]", cart, &checkout_), Match::kYes);
  EXPECT_EQ(match("exclude: [proxy]", proxy, &checkout_), Match::kNo);
  EXPECT_EQ(match("include: [cart, proxy], exclude: [proxy]", proxy, &checkout_), Match::kNo);
  EXPECT_EQ(match("include: [cart]", sandbox, &checkout_), Match::kOpen);
  EXPECT_EQ(match("include: [cart]", cart, nullptr), Match::kOpen);
  EXPECT_EQ(match("include: []", cart, nullptr), Match::kYes);
  EXPECT_EQ(match("include: [cart]", "", &checkout_), Match::kNo) << "the pod's own cgroup";
  EXPECT_EQ(match("exclude: [cart]", "", &checkout_), Match::kYes);
}

TEST_F(PolicyMatch, ANodeWhoseLabelsAreNotKnownIsNotChosen) {
  const ProfilingPolicy policy =
      Policy(kAll, ", nodeSelector: {matchLabels: {kubernetes.io/arch: amd64}}");
  const Labels amd = {{"kubernetes.io/arch", "amd64"}};
  EXPECT_EQ(MatchNode(policy.spec, &amd).match, Match::kYes);
  EXPECT_EQ(MatchNode(policy.spec, &kNoLabels).match, Match::kNo);
  EXPECT_EQ(MatchNode(policy.spec, nullptr).match, Match::kNo);
  EXPECT_EQ(MatchNode(Policy(kAll).spec, nullptr).match, Match::kYes);
}

}  // namespace
}  // namespace firetower::k8s
