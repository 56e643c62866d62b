// SPDX-License-Identifier: Apache-2.0
// Computes the status of a policy from the nodes' reports. Pure: the same facts give the same
// status.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "k8s/policy/object.h"
#include "k8s/status/node_report.h"
#include "k8s/status/policy_status.h"

namespace firetower::k8s {

// A policy as the hub watches it.
struct WatchedPolicy {
  PolicyObject object;
  bool cluster = false;
  std::string namespace_name;
  std::string name;
  std::string resource_version;
  int64_t created_ns = 0;  // Unix time
  bool deleting = false;
  PolicyStatus status;
};

FieldSet WatchedPolicyFields();
Result<WatchedPolicy> ReadWatchedPolicy(const Node& object, bool cluster);

// Returns the time over which the agents of so many nodes spread their reports: at most 50 agents
// write per second, and those of a small cluster write at once. An unknown count (0) is taken as a
// thousand.
int64_t ReportSpanNs(int64_t nodes);

// After this time a policy without reports counts as one without targets.
inline constexpr int64_t kNoTargetsNs = 30'000'000'000;

struct ReportedRow {
  std::string_view node;
  const PolicyRow* row;
  bool agent_down = false;  // the row is out of date
};

// The facts about the moment that a status depends on.
struct PolicyMoment {
  int64_t wall_ns = 0;
  // Every agent has had time to report on this generation.
  bool settled = false;
  // The time is over: a node that has not reported by now has another reason.
  bool overdue = false;
  // No node has reported the policy for kNoTargetsNs.
  bool no_targets = false;
  // The agents of some nodes do not run, so they cannot report it; or no agent runs at all.
  bool agents_down = false;
  bool no_agent_runs = false;
};

// Returns the Unix time at which its activeDeadlineSeconds end; INT64_MAX if it has none.
int64_t DeadlineNs(const WatchedPolicy& policy);
// Returns the time at which ttlSecondsAfterFinished deletes it; INT64_MAX for never.
int64_t DeletionNs(const WatchedPolicy& policy);

// Computes the status. `rows` are every node's rows of this policy, selected by uid. Conditions of
// other writers are kept.
PolicyStatus Aggregate(const WatchedPolicy& policy, std::span<const ReportedRow> rows,
                       const PolicyMoment& moment);

}  // namespace firetower::k8s
