// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/loaded_policy.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

LoadedPolicy Policy(const std::string& more = "") {
  return Loaded(Document("p", "mode: General, " + more + kAllPods)).at(0);
}

// Priority, then the namespaced kind, then age, then the name: each decides what those before it
// leave open.
TEST(LoadedPolicy, FollowsTheOverlapRules) {
  k8s::ProfilingPolicy last = Policy().policy;
  last.cluster = true;
  last.created_ns = 9;
  last.name = "z";
  k8s::ProfilingPolicy first = last;
  const auto decides = [&](const char* what) {
    EXPECT_TRUE(ComesBefore(first, last)) << what;
    EXPECT_FALSE(ComesBefore(last, first)) << what;
  };
  EXPECT_FALSE(ComesBefore(first, last)) << "equal";
  first.name = "a";
  decides("name");
  last.created_ns = 8;
  std::swap(first, last);
  decides("age before name");
  last.cluster = false;
  std::swap(first, last);
  decides("kind before age");
  last.spec.priority = 1;
  std::swap(first, last);
  decides("priority before kind");
}

TEST(LoadedPolicy, IsActiveUntilItsDeadline) {
  LoadedPolicy policy = Policy("activeDeadlineSeconds: 60, ");
  policy.since_ns = 5 * kNsPerSecond;
  EXPECT_TRUE(IsActive(policy, 65 * kNsPerSecond - 1));
  EXPECT_FALSE(IsActive(policy, 65 * kNsPerSecond));
  EXPECT_TRUE(IsActive(Policy(), INT64_MAX - 1));
}

TEST(LoadedPolicy, WhatIsSuspendedOrNotServedIsNeverActive) {
  EXPECT_FALSE(IsActive(Policy("suspend: true, "), 0));
  const std::string tracepoint =
      "{type: Event, events: [{name: \"sched:sched_switch\", period: 1}]}";
  EXPECT_FALSE(IsActive(Policy("profiles: [" + tracepoint + "], "), 0));
}

}  // namespace
}  // namespace firetower::daemon
