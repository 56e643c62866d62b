// SPDX-License-Identifier: Apache-2.0
// From what the nodes report of a policy to its status. Pure: the same facts are the same status.
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

// How long agents of so many nodes spread their reports: at most 50 a second write, and the few of
// a small cluster at once. A count that is not known (0) is taken for a thousand.
int64_t ReportSpanNs(int64_t nodes);

// A policy that no node told of is one without targets after this.
inline constexpr int64_t kNoTargetsNs = 30'000'000'000;

struct ReportedRow {
  std::string_view node;
  const PolicyRow* row;
  bool agent_down = false;  // what the row says is not so any more
};

// Facts about the moment that a status depends on.
struct PolicyMoment {
  int64_t wall_ns = 0;
  // Every agent has had the time to answer to this generation.
  bool settled = false;
  // Time is up: a node that has not answered by now has a reason of its own.
  bool overdue = false;
  // No node has told of the policy for kNoTargetsNs.
  bool no_targets = false;
  // Some nodes' agents do not run, and could not tell of it; none does.
  bool agents_down = false;
  bool no_agent_runs = false;
};

// When its activeDeadlineSeconds passes (Unix time); INT64_MAX when it has none.
int64_t DeadlineNs(const WatchedPolicy& policy);
// When ttlSecondsAfterFinished says that it is to be deleted; INT64_MAX for never.
int64_t DeletionNs(const WatchedPolicy& policy);

// `rows`: every node's row of this policy, told by uid. Conditions of others are kept.
PolicyStatus Aggregate(const WatchedPolicy& policy, std::span<const ReportedRow> rows,
                       const PolicyMoment& moment);

}  // namespace firetower::k8s
