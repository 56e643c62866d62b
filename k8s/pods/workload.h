// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "k8s/selector.h"

namespace firetower::k8s {

// Object that a person deployed and a pod belongs to.
struct Workload {
  std::string kind;  // "Deployment"
  std::string name;

  bool operator==(const Workload&) const = default;
};

// The owner that controls a pod; both empty for a bare one.
struct PodOwner {
  std::string_view kind;
  std::string_view name;
};

// From the pod alone, because watching every ReplicaSet and Job from every node is what brings API
// servers down:
//   - a ReplicaSet called like <name>-<the pod's label pod-template-hash> is its Deployment <name>;
//   - a Job called like <name>-<minutes since 1970> near the pod's birth is its CronJob <name>,
//     which names its Jobs so (a Job called import-20240101 is none: those minutes lie in 2008);
//   - another controller is itself, and a pod without one (or a static pod, which its Node owns) is
//     its own workload of kind Pod.
Workload WorkloadOf(const PodOwner& owner, std::string_view pod_name, const Labels& labels,
                    std::optional<int64_t> created_wall_ns);

}  // namespace firetower::k8s
