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

// The state of a policy on this node, beyond its text.
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

// Why the allocations of some processes are not sampled.
struct HeapFault {
  std::string reason;   // CamelCase
  std::string message;  // for people

  bool operator==(const HeapFault&) const = default;
};

// Why types of profiles cannot be had on this machine, for people; empty: they can.
struct TypeFaults {
  std::string waits;                          // off-CPU time and waits for locks
  std::string kernel_locks;                   // waits for locks of the kernel's
  std::map<std::string, std::string> events;  // by their names
  std::string allocations;
  std::map<std::string, HeapFault> heaps;       // by the short name of a policy that asks for them
  std::map<std::string, std::string> runtimes;  // by that of one whose stacks lack names

  bool operator==(const TypeFaults&) const = default;
};

// Faults of the agent that reduce the data of its policies. Texts are for people; empty means no
// fault.
struct AgentFaults {
  bool store_fails = false;  // it refused the last object
  // A capability is missing for the names of user frames, of kernel frames.
  std::string user_names;
  std::string kernel_names;
  // The agent is not in the node's PID namespace, so it sees no process.
  std::string processes;
  // The types of profiles that cannot be had here.
  TypeFaults types;
  // Namespaces were never read, so opt-outs in them are unknown.
  std::string opt_outs;
  int64_t ceiling_hz = 999;  // the highest rate that it gives
  int cpu_end = 0;           // one above the highest CPU of the node; 0: not known
};

// Returns this node's rows of its ProfilingNode: for policies of the API server that match
// something here, record the whole node, or fail. Rows do not change between the periods of a
// periodic policy. Suspended, finished and unsupported policies have no row, because the hub
// derives their state from the object alone. Returns no rows until the pods are known.
std::vector<k8s::PolicyRow> ReportPolicies(const std::vector<LoadedPolicy>& policies,
                                           const ClusterView& view, int64_t wall_ns,
                                           const PolicyFindings& findings = {},
                                           const AgentFaults& faults = {});

}  // namespace firetower::daemon
