// SPDX-License-Identifier: Apache-2.0
// Whether a cluster lets the agents' pods in, as the API server shows it: what nobody within the
// cluster can tell, when there are no pods.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cluster/kube_client.h"
#include "cli/failure.h"
#include "query/sources.h"

namespace firetower::cli {

// What there is to see of a DaemonSet.
struct AgentsSeen {
  bool is_looked_at = true;  // by the cluster's controller, since it was last changed
  int64_t desired = 0;       // nodes that should have a pod
  int64_t current = 0;       // that have one
  int64_t ready = 0;
  std::string refusal = {};  // why pods could not be made, where events tell
  std::string trouble = {};  // why one that was made is not ready: "POD: reason"
};

// The namespace's value of pod-security.kubernetes.io/enforce, "" for none, and its agents; a
// Failure says why either cannot be seen, by its http_status.
query::Check JudgePodSecurity(const std::string& name_space, const Outcome<std::string>& enforced,
                              const Outcome<AgentsSeen>& agents);
query::Check JudgeAgents(const std::string& name_space, const Outcome<std::string>& enforced,
                         const Outcome<AgentsSeen>& agents);

// Both checks of the namespace that Firetower is, or would be, installed in: "pod-security" and
// "agents". What may not be read is skipped; a Failure means that the API server answers nothing.
Outcome<std::vector<query::Check>> CheckInstallation(KubeClient& kube,
                                                     const std::string& name_space);

// What it means that a namespace's hub did not answer the doctor: one that was told no store has no
// answer, and there need be none; both are skipped. Else the check fails with `failure`.
query::Check JudgeSilentHub(KubeClient& kube, const std::string& name_space,
                            const Failure& failure);

}  // namespace firetower::cli
