// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/policy/cluster_view.h"
#include "daemon/policy/policy_selection.h"
#include "k8s/status/node_report.h"

namespace firetower::daemon {

// State of a policy here that its text does not tell.
struct PolicyFinding {
  bool failed = false;
  std::string reason;   // CamelCase: "BudgetExceeded" while it still runs
  std::string message;  // for people
  int64_t captures = 0;
  int64_t last_capture_ns = 0;  // Unix time; 0: none
  bool dropped = false;         // the budget has no room for it: others decide what is kept
  bool node_wide = false;       // it has the whole node recorded, also what is no target of it
};
using PolicyFindings = std::map<std::string, PolicyFinding>;  // by the policy's uid

// Faults of the agent that cut the data of its policies. Texts are for people; empty: all is well.
struct AgentFaults {
  bool store_fails = false;  // it did not take what was written last
  // A capability is missing for the names of user frames, of kernel frames.
  std::string user_names;
  std::string kernel_names;
  // It does not share the node's PID namespace: it knows no process.
  std::string processes;
  // Namespaces were never read: who opted out in them is not known.
  std::string opt_outs;
  int64_t ceiling_hz = 999;  // the highest rate that it gives
  int cpu_end = 0;           // one above the highest CPU of the node; 0: not known
};

// This node's rows of its ProfilingNode: policies of the API server that match something here, that
// have the whole node recorded, or that fail. Between the periods of a periodic policy nothing
// changes. Those that are suspended, over or not served have no row: the hub says that from the
// object alone. None while it is not known which pods there are.
std::vector<k8s::PolicyRow> ReportPolicies(const std::vector<LoadedPolicy>& policies,
                                           const ClusterView& view, int64_t wall_ns,
                                           const PolicyFindings& findings = {},
                                           const AgentFaults& faults = {});

}  // namespace firetower::daemon
