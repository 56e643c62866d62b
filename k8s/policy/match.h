// SPDX-License-Identifier: Apache-2.0
// Tells which pods and containers a policy's targets include, and why.
#pragma once

#include <cstdint>
#include <string_view>

#include "k8s/pods/pod.h"
#include "k8s/policy/policy.h"

namespace firetower::k8s {

enum class Match : uint8_t {
  kNo,
  kYes,
  kOpen,  // what decides it is not known yet
};

// A result with its reason; `why` is a constant text for people.
struct TargetMatch {
  Match match = Match::kNo;
  std::string_view why;
};

// Tells whether the labels of a namespace exclude its pods from every policy.
bool OptsOut(const Labels& labels);

enum class OptOut { kHonoured, kIgnored };

// Matches a pod, including podPercent, without suspension and schedule. `pod` is nullptr while its
// object is unknown, `namespace_labels` while those of its namespace are unknown; the answer is
// kOpen if they could change it.
TargetMatch MatchPod(const ProfilingPolicy& policy, const Pod* pod, std::string_view cgroup_uid,
                     const Labels* namespace_labels, OptOut opt_out = OptOut::kHonoured);

// Matches a container of a matching pod by the runtime's id; "" for processes in the pod's own
// cgroup.
TargetMatch MatchContainer(const Targets& targets, const Pod* pod, std::string_view container_id);

// Tells whether the policy selects the node; nullptr while its labels are unknown. Never kOpen: a
// policy that cannot be decided runs nowhere.
TargetMatch MatchNode(const PolicySpec& spec, const Labels* node_labels);

// Tells whether a pod is in the share of podPercent, by its uid as cgroups spell it. The result is
// the same after a restart and on every node.
bool InPercent(std::string_view uid, int64_t percent);

}  // namespace firetower::k8s
