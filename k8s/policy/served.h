// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "k8s/policy/policy.h"

namespace firetower::k8s {

// The effect of a valid policy in this version.
struct ServedReport {
  bool served = true;                 // false: the policy as a whole has no effect
  std::vector<std::string> messages;  // the parts that are ignored, each as a sentence

  bool operator==(const ServedReport&) const = default;
};

// Returns the effect. A policy that asks for nothing that may be had has none.
ServedReport Served(const ProfilingPolicy& policy);

}  // namespace firetower::k8s
