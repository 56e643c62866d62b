// SPDX-License-Identifier: Apache-2.0
// Policies as an API server sends them, and the nodes' reports about them.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "k8s/status/aggregate.h"

namespace firetower::k8s {

inline constexpr std::string_view kPolicyUid = "5cbb2db7-0a26-4a0c-8e9d-6d6b4ff4b6a5";
// date -d 2026-11-21T19:43:27Z +%s
inline constexpr int64_t kCreatedNs = 1795290207 * kNsPerSecond;

inline WatchedPolicy ReadPolicyJson(std::string_view json) {
  FieldSet fields = WatchedPolicyFields();
  for (const char* identity : {"name", "namespace", "uid", "resourceVersion"})
    fields.Keep({"metadata", identity});
  const Result<Node> node = ParseObject(json, fields);
  EXPECT_TRUE(node) << (node ? "" : node.error().message());
  const Result<WatchedPolicy> policy = ReadWatchedPolicy(*node, false);
  EXPECT_TRUE(policy) << (policy ? "" : policy.error().message());
  return *policy;
}

// Created at kCreatedNs. `spec`: more of the spec, such as ,"suspend":true.
inline WatchedPolicy PolicyWith(int64_t generation, std::string_view spec = "",
                                std::string_view status = "{}") {
  return ReadPolicyJson(fmt::format(
      R"({{"metadata":{{"creationTimestamp":"2026-11-21T19:43:27Z","generation":{},)"
      R"("name":"checkout","namespace":"shop","resourceVersion":"214","uid":"{}"}},"spec":{{)"
      R"("mode":"General","targets":{{"podSelector":{{"matchLabels":{{"app":"cart"}}}}}}{}}},)"
      R"("status":{}}})",
      generation, kPolicyUid, spec, status));
}

inline PolicyRow RowOf(int64_t generation, PolicyState state = PolicyState::kRunning,
                       std::string reason = "", int64_t pods = 2) {
  PolicyRow row;
  row.namespace_name = "shop";
  row.name = "checkout";
  row.uid = kPolicyUid;
  row.generation = generation;
  row.state = state;
  row.reason = std::move(reason);
  row.pods = row.profiled_pods = pods;
  return row;
}

}  // namespace firetower::k8s
