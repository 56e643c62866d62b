// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/policy/task_filter.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// A policy and when this daemon first saw it (Unix time): what its deadline counts from.
struct LoadedPolicy {
  k8s::ProfilingPolicy policy;
  int64_t since_ns = 0;
  std::shared_ptr<const PolicyFilter> filter = nullptr;  // PolicySchedule compiles it
};

// When its activeDeadlineSeconds passes (Unix time); INT64_MAX when it has none.
int64_t DeadlineNs(const LoadedPolicy& loaded);
// Could ever be in force here: it is served, and not suspended.
bool IsEligible(const LoadedPolicy& loaded);
// Eligible, and not over at this moment (Unix time). Between the periods of a periodic policy too.
bool IsActive(const LoadedPolicy& loaded, int64_t wall_ns);

// Orders policies: of two that contradict each other (stacks) the first is followed.
bool ComesBefore(const k8s::ProfilingPolicy& a, const k8s::ProfilingPolicy& b);

}  // namespace firetower::daemon
