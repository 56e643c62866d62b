// SPDX-License-Identifier: Apache-2.0
// Tests of the text for people; the decisions of agents are tested with k8s/policy/match.h.
#include "cli/cluster/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace firetower::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kCreatedNs = 1782864000 * kNsPerSecond;  // 2026-07-01T00:00:00Z
constexpr int64_t kNowNs = kCreatedNs + 3600 * kNsPerSecond;

k8s::Node Object(const std::string& json, const k8s::FieldSet& fields) {
  k8s::FieldSet all = fields;
  all.Keep({"metadata"});
  Result<k8s::Node> object = k8s::ParseObject(json, all);
  EXPECT_TRUE(object) << object.error().message();
  return object.value_or(k8s::Node{});
}

k8s::PolicyObject PolicyOf(const std::string& spec, bool cluster = false,
                           const std::string& metadata = "") {
  const std::string space = cluster ? "" : R"(,"namespace":"shop")";
  const k8s::Node object = Object(R"({"metadata":{"name":"p","uid":"policy-uid","generation":2,)"
                                  R"("creationTimestamp":"2026-07-01T00:00:00Z")" +
                                      space + metadata + R"(},"spec":)" + spec + "}",
                                  k8s::PolicyObjectFields());
  Result<k8s::PolicyObject> policy = k8s::ReadPolicyObject(object, cluster);
  EXPECT_TRUE(policy);
  return policy.value_or(k8s::PolicyObject{});
}

k8s::PolicyObject Policy(const std::string& spec, bool cluster = false,
                         const std::string& metadata = "") {
  return PolicyOf(R"({"mode":"General",)" + spec + "}", cluster, metadata);
}

const std::string kCart = R"("general":{"schedule":"Continuous"},)"
                          R"("targets":{"podSelector":{"matchLabels":{"app":"cart"}}})";

PodFacts Cart() {
  const k8s::Node pod = Object(
      R"({"metadata":{"name":"cart-1","namespace":"shop","uid":"u","labels":{"app":"cart"}},)"
      R"("spec":{"nodeName":"node-1","containers":[{"name":"cart"},{"name":"proxy"}]},)"
      R"("status":{"phase":"Running","containerStatuses":[)"
      R"({"name":"cart","containerID":"containerd://aa"},)"
      R"({"name":"proxy","containerID":"containerd://bb"}]}})",
      PodFactFields());
  Result<PodFacts> facts = PodFactsOf(pod);
  EXPECT_TRUE(facts);
  facts->namespace_labels.emplace();
  facts->node_labels.emplace();
  return *std::move(facts);
}

TEST(Verdict, AMatchingPodIsProfiled) {
  const Verdict verdict = Judge(Policy(kCart), Cart(), kNowNs);
  EXPECT_EQ(verdict.answer, Answer::kYes) << verdict.why;
  EXPECT_THAT(verdict.containers, ElementsAre("cart", "proxy"));
}

TEST(Verdict, APeriodicScheduleIsTold) {
  const Verdict verdict =
      Judge(Policy(R"("targets":{"podSelector":{"matchLabels":{"app":"cart"}}})"), Cart(), kNowNs);
  EXPECT_EQ(verdict.answer, Answer::kYes);
  EXPECT_THAT(verdict.why, HasSubstr("for 1m of every 5m")) << "the schema's default";
}

TEST(Verdict, AContainerThatIsNotTakenIsLeftOut) {
  const std::string only = R"("general":{"schedule":"Continuous"},"targets":{"podSelector":)"
                           R"({"matchLabels":{"app":"cart"}},"containers":)";
  Verdict verdict = Judge(Policy(only + R"({"exclude":["proxy"]}})"), Cart(), kNowNs);
  EXPECT_THAT(verdict.containers, ElementsAre("cart"));
  verdict = Judge(Policy(only + R"({"include":["other"]}})"), Cart(), kNowNs);
  EXPECT_EQ(verdict.answer, Answer::kNo);
  EXPECT_THAT(verdict.why, HasSubstr("containers.include does not name the container"));
}

TEST(Verdict, WhatIsNotInForceProfilesNothing) {
  const auto why = [](const k8s::PolicyObject& policy) {
    const Verdict verdict = Judge(policy, Cart(), kNowNs);
    EXPECT_EQ(verdict.answer, Answer::kNo);
    return verdict.why;
  };
  EXPECT_THAT(why(Policy(kCart + R"(,"suspend":true)")), HasSubstr("suspended"));
  EXPECT_THAT(why(Policy(kCart + R"(,"activeDeadlineSeconds":600)")), HasSubstr("50m ago"));
  EXPECT_THAT(why(Policy(kCart, false, R"(,"deletionTimestamp":"2026-07-01T00:10:00Z")")),
              HasSubstr("deleted"));
  EXPECT_THAT(why(Policy(kCart + R"(,"profiles":[{"type":"Newer"}])")), HasSubstr("refused"));
  EXPECT_EQ(Judge(Policy(kCart + R"(,"activeDeadlineSeconds":7200)"), Cart(), kNowNs).answer,
            Answer::kYes);
}

TEST(Verdict, ThePodsPlaceCounts) {
  PodFacts facts = Cart();
  facts.phase = "Succeeded";
  EXPECT_THAT(Judge(Policy(kCart), facts, kNowNs).why, HasSubstr("has ended"));
  facts = Cart();
  facts.pod.node = "";
  EXPECT_THAT(Judge(Policy(kCart), facts, kNowNs).why, HasSubstr("not on a node yet"));
  const k8s::PolicyObject ssd = Policy(kCart + R"(,"nodeSelector":{"matchLabels":{"disk":"ssd"}})");
  EXPECT_THAT(Judge(ssd, Cart(), kNowNs).why, HasSubstr("nodeSelector does not match this node"));
  facts = Cart();
  facts.node_labels = k8s::Labels{{"disk", "ssd"}};
  EXPECT_EQ(Judge(ssd, facts, kNowNs).answer, Answer::kYes);
}

// Facts that need a missing right are reported as unknown.
TEST(Verdict, WhatMayNotBeReadIsUnknown) {
  PodFacts facts = Cart();
  facts.node_labels.reset();
  facts.namespace_labels.reset();
  EXPECT_EQ(Judge(Policy(kCart), facts, kNowNs).answer, Answer::kYes);
  EXPECT_EQ(
      Judge(Policy(kCart + R"(,"nodeSelector":{"matchLabels":{"disk":"ssd"}})"), facts, kNowNs)
          .answer,
      Answer::kUnknown);
  const k8s::PolicyObject team = Policy(
      R"("general":{"schedule":"Continuous"},"targets":{"podSelector":{"matchLabels":{"app":"cart"}},)"
      R"("namespaceSelector":{"matchLabels":{"team":"front"}}})",
      /*cluster=*/true);
  EXPECT_EQ(Judge(team, facts, kNowNs).answer, Answer::kUnknown);
}

TEST(Verdict, OptingOutIsTold) {
  PodFacts facts = Cart();
  facts.pod.opted_out = true;
  EXPECT_THAT(Judge(Policy(kCart), facts, kNowNs).why, HasSubstr("the pod opts out"));
  facts = Cart();
  facts.namespace_labels = k8s::Labels{{"firetower.dev/profile", "false"}};
  EXPECT_THAT(Judge(Policy(kCart), facts, kNowNs).why, HasSubstr("the namespace opts out"));
}

TEST(Verdict, TheAgentHasTheLastWord) {
  PodFacts facts = Cart();
  facts.report = NodeReport::kAbsent;
  Verdict verdict = Judge(Policy(kCart), facts, kNowNs);
  EXPECT_EQ(verdict.answer, Answer::kNo);
  EXPECT_THAT(verdict.why, HasSubstr("no agent reports from node node-1"));

  facts.report = NodeReport::kRead;
  EXPECT_EQ(Judge(Policy(kCart), facts, kNowNs).answer, Answer::kUnknown) << "not reported yet";

  const auto row = [&](const std::string& generation, const std::string& rest) {
    facts.rows =
        NodeRowsOf(Object(R"({"policies":[{"uid":"other","state":"Failed","generation":9},)"
                          R"({"uid":"policy-uid","generation":)" +
                              generation + "," + rest + "}]}",
                          NodeRowFields()));
    return Judge(Policy(kCart), facts, kNowNs);
  };
  EXPECT_EQ(row("2", R"("state":"Running")").answer, Answer::kYes);
  EXPECT_EQ(row("2", R"("state":"Armed")").answer, Answer::kYes);
  EXPECT_EQ(row("1", R"("state":"Running")").answer, Answer::kUnknown) << "of its last generation";
  verdict = row("2", R"("state":"Failed","reason":"BudgetExceeded","message":"no room")");
  EXPECT_EQ(verdict.answer, Answer::kNo);
  EXPECT_EQ(verdict.why, "Failed on node-1, BudgetExceeded: no room");
}

// Such a policy has all pods of a node recorded where it can fire.
TEST(Verdict, CapturesOfScopeNodeHoldWhatIsNoTarget) {
  const k8s::PolicyObject wide = PolicyOf(
      R"({"mode":"Trigger","targets":{"podSelector":{"matchLabels":{"app":"other"}}},)"
      R"("trigger":{"rules":[{"name":"killed","metric":"OOMKill"}],"capture":{"scope":"Node"}}})",
      true);
  PodFacts facts = Cart();
  EXPECT_EQ(Judge(wide, facts, kNowNs).answer, Answer::kUnknown) << "nobody says what runs there";
  facts.report = NodeReport::kRead;
  EXPECT_EQ(Judge(wide, facts, kNowNs).answer, Answer::kNo) << "nothing can fire it there";
  const auto says = [&](std::string state) {
    facts.rows = {{"policy-uid", 2, std::move(state), "", ""}};
    return Judge(wide, facts, kNowNs);
  };
  const Verdict verdict = says("Armed");
  EXPECT_EQ(verdict.answer, Answer::kYes);
  EXPECT_THAT(verdict.why, HasSubstr("captures cover the whole node"));
  EXPECT_THAT(verdict.containers, ElementsAre("cart", "proxy"));
  EXPECT_EQ(says("Failed").answer, Answer::kNo);
  facts.pod.opted_out = true;
  EXPECT_EQ(says("Armed").answer, Answer::kNo);
}

}  // namespace
}  // namespace firetower::cli
