// SPDX-License-Identifier: Apache-2.0
// Checks whether a cluster admits the agents' pods, by asking the API server. Without pods, no
// check inside the cluster can tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cluster/kube_client.h"
#include "cli/failure.h"
#include "query/sources.h"

namespace firetower::cli {

// The state of a DaemonSet.
struct AgentsSeen {
  bool is_looked_at = true;  // by the cluster's controller, since it was last changed
  int64_t desired = 0;       // nodes that should have a pod
  int64_t current = 0;       // that have one
  int64_t ready = 0;
  std::string refusal = {};  // why pods could not be made, where events tell
  std::string trouble = {};  // why one that was made is not ready: "POD: reason"
};

// Judges a namespace's value of pod-security.kubernetes.io/enforce ("" for none) and its agents. A
// Failure says by its http_status why one of them cannot be read.
query::Check JudgePodSecurity(const std::string& name_space, const Outcome<std::string>& enforced,
                              const Outcome<AgentsSeen>& agents);
query::Check JudgeAgents(const std::string& name_space, const Outcome<std::string>& enforced,
                         const Outcome<AgentsSeen>& agents);

// Runs both checks, "pod-security" and "agents", on the namespace in which Firetower is, or would
// be, installed. Skips what the user may not read. A Failure means that the API server answers
// nothing.
Outcome<std::vector<query::Check>> CheckInstallation(KubeClient& kube,
                                                     const std::string& name_space);

// Judges a hub that did not answer the doctor. Skips the check if the hub was given no store,
// because it then answers nothing, or if no hub is needed. Else the check fails with `failure`.
query::Check JudgeSilentHub(KubeClient& kube, const std::string& name_space,
                            const Failure& failure);

}  // namespace firetower::cli
