// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "k8s/selector.h"

namespace firetower::k8s {

// The object that a person deployed and a pod belongs to.
struct Workload {
  std::string kind;  // "Deployment"
  std::string name;

  bool operator==(const Workload&) const = default;
};

// The owner that controls a pod; both fields are empty for a bare pod.
struct PodOwner {
  std::string_view kind;
  std::string_view name;
};

// Finds the workload from the pod alone, because watching every ReplicaSet and Job from every node
// would overload API servers. A ReplicaSet called <name>-<the pod's label pod-template-hash>
// belongs to Deployment <name>. A Job called <name>-<minutes since 1970> close to the pod's
// creation belongs to CronJob <name>, which names its Jobs so (import-20240101 does not: those
// minutes are in 2008). Any other controller is its own workload. A pod without a controller (or a
// static pod, which its Node owns) is its own workload of kind Pod.
Workload WorkloadOf(const PodOwner& owner, std::string_view pod_name, const Labels& labels,
                    std::optional<int64_t> created_wall_ns);

}  // namespace firetower::k8s
