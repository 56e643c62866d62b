// SPDX-License-Identifier: Apache-2.0
#include "service/policies/policy_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace firetower::service {
namespace {

using query::PolicyHealth;
using ::testing::ElementsAre;

k8s::WatchedPolicy Watched(std::string_view type, k8s::ConditionStatus status,
                           const std::string& reason) {
  k8s::WatchedPolicy watched;
  watched.namespace_name = "shop";
  watched.name = "checkout";
  watched.object.generation = 2;
  watched.status.observed_generation = 2;
  watched.status.conditions = {
      {std::string(k8s::kReadyCondition), k8s::ConditionStatus::kFalse, reason, "why"},
      {std::string(type), status, reason, "why"}};
  return watched;
}

TEST(PolicyStates, APolicyWithoutProfilesAsksForCpu) {
  k8s::ProfilingPolicy policy;
  policy.name = "checkout";
  policy.namespace_name = "shop";
  policy.spec.mode = k8s::Mode::kTrigger;
  const query::PolicyState state = StateOf(policy);
  EXPECT_EQ(state.kind, "ProfilingPolicy");
  EXPECT_EQ(state.mode, "Trigger");
  EXPECT_THAT(state.types, ElementsAre("CPU"));
  policy.cluster = true;
  policy.spec.profiles.resize(2);
  policy.spec.profiles[0].type = k8s::ProfileType::kOffCpu;
  policy.spec.profiles[1].type = k8s::ProfileType::kLock;
  EXPECT_THAT(StateOf(policy).types, ElementsAre("OffCPU", "Lock"));
  EXPECT_EQ(StateOf(policy).namespace_name, "");
}

TEST(PolicyStates, GoByTheConditions) {
  using enum k8s::ConditionStatus;
  EXPECT_EQ(StateOf(Watched(k8s::kAcceptedCondition, kFalse, "Invalid")).health,
            PolicyHealth::kRefused);
  EXPECT_EQ(StateOf(Watched(k8s::kDegradedCondition, kTrue, "BudgetExceeded")).health,
            PolicyHealth::kDegraded);
  EXPECT_EQ(StateOf(Watched(k8s::kProgrammedCondition, kFalse, "Suspended")).health,
            PolicyHealth::kOff);
  EXPECT_EQ(StateOf(Watched(k8s::kProgrammedCondition, kFalse, "Reconciling")).health,
            PolicyHealth::kUnknown);
  k8s::WatchedPolicy ready = Watched(k8s::kProgrammedCondition, kTrue, "Ready");
  ready.status.conditions[0].status = kTrue;
  ready.status.pods_matched = 3;
  ready.status.failures = {{"node-1", "AgentNotReady", "its agent does not run"}};
  const query::PolicyState state = StateOf(ready);
  EXPECT_EQ(state.health, PolicyHealth::kOk);
  EXPECT_EQ(state.pods_matched, 3);
  EXPECT_EQ(state.message, "why");
  ASSERT_EQ(state.failures.size(), 1u);
  EXPECT_EQ(state.failures[0].node, "node-1");
  // The status is of an earlier text.
  ready.object.generation = 3;
  EXPECT_EQ(StateOf(ready).health, PolicyHealth::kUnknown);
  EXPECT_EQ(StateOf(k8s::WatchedPolicy{}).health, PolicyHealth::kUnknown);
}

TEST(PolicyStates, ARefusedDocumentIsNamedByItsPlace) {
  const query::PolicyState state =
      RefusedState({.file = "bad.yaml", .line = 7, .field = "spec.colour", .message = "unknown"});
  EXPECT_EQ(state.health, PolicyHealth::kRefused);
  EXPECT_EQ(state.name, "bad.yaml");
  EXPECT_EQ(state.message, "bad.yaml:7: spec.colour: unknown");
}

}  // namespace
}  // namespace firetower::service
