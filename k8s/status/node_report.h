// SPDX-License-Identifier: Apache-2.0
// ProfilingNode (firetower.dev/v1alpha1) as a value: the state of one node's agent. That agent
// writes it, and the hub reads those of all nodes. crd/ is the schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "k8s/document/node.h"
#include "k8s/watch/object_fields.h"

namespace firetower::k8s {

// The schema's bounds.
inline constexpr size_t kMaxReportedPolicies = 256;
inline constexpr size_t kMaxReportedConditions = 8;
inline constexpr size_t kMaxReasonChars = 64;
inline constexpr size_t kMaxNodeMessageChars = 256;
inline constexpr int64_t kMaxReportedPods = 4096;
inline constexpr int64_t kMaxReportedCaptures = 2147483647;

enum class PolicyState : uint8_t { kRunning, kArmed, kFailed, kSkipped, kOverridden, kComplete };
std::string_view PolicyStateName(PolicyState state);

// One policy on one node.
struct PolicyRow {
  bool cluster = false;
  std::string namespace_name;  // of the namespaced kind
  std::string name;
  std::string uid;
  int64_t generation = 0;
  PolicyState state = PolicyState::kRunning;
  std::string reason;   // CamelCase; empty when there is nothing to say
  std::string message;  // for people
  int64_t pods = 0;     // of this node, that the policy takes
  int64_t profiled_pods = 0;
  int64_t captures = 0;
  int64_t last_capture_ns = 0;  // Unix time; 0: none

  bool operator==(const PolicyRow&) const = default;
};

struct NodeCondition {
  std::string type;
  bool holds = false;
  std::string reason;
  std::string message;
  int64_t last_transition_ns = 0;  // Unix time

  bool operator==(const NodeCondition&) const = default;
};

struct AgentFacts {
  std::string version;
  std::string pod_namespace;  // of the pod that it runs in; empty: it runs in none
  std::string boot_id;
  std::string kernel_version;
  std::string cgroup_mode;            // v1, v2 or hybrid; empty: not known
  std::vector<std::string> features;  // each once

  bool operator==(const AgentFacts&) const = default;
};

struct NodeReport {
  std::string node;
  std::string node_uid;  // of the Node that owns it; empty while that is not known
  AgentFacts agent;
  std::vector<NodeCondition> conditions;
  std::vector<PolicyRow> policies;

  bool operator==(const NodeReport&) const = default;
};

// Returns the object as JSON, for a server-side apply: at most kMaxReportedPolicies rows, failures
// first, and the number of omitted rows; texts are cut to the schema's limits. The same report
// gives the same text.
std::string NodeReportJson(const NodeReport& report);

// Returns the fields that ReadNodeReport reads. Of the agent's facts these are version and
// namespace; the others are for people.
FieldSet NodeReportFields();
// Reads a report. Ignores invalid rows (such as states of a newer agent). kCorrupt: it has no name.
Result<NodeReport> ReadNodeReport(const Node& object);

}  // namespace firetower::k8s
