// SPDX-License-Identifier: Apache-2.0
// Which pods and containers a policy's targets take, and why (not).
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

// `why` is a constant; for people.
struct TargetMatch {
  Match match = Match::kNo;
  std::string_view why;
};

// Whether the labels of a namespace take its pods out of every policy.
bool OptsOut(const Labels& labels);

enum class OptOut { kHonoured, kIgnored };

// The pod alone, podPercent included, suspension and schedule left out. `pod` is nullptr while its
// object is not known, `namespace_labels` while those of its namespace are not; the answer is kOpen
// where they could change it.
TargetMatch MatchPod(const ProfilingPolicy& policy, const Pod* pod, std::string_view cgroup_uid,
                     const Labels* namespace_labels, OptOut opt_out = OptOut::kHonoured);

// A container of a pod that matched, by the runtime's id; "" for what is in the pod's own cgroup.
TargetMatch MatchContainer(const Targets& targets, const Pod* pod, std::string_view container_id);

// Whether the node is one of the policy's; nullptr while its labels are not known. Never kOpen:
// what could not be asked runs nowhere.
TargetMatch MatchNode(const PolicySpec& spec, const Labels* node_labels);

// The share of podPercent that a pod is in, by its uid as cgroups spell it: the same after a
// restart and on every node.
bool InPercent(std::string_view uid, int64_t percent);

}  // namespace firetower::k8s
