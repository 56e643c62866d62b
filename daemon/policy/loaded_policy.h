// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/policy/task_filter.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// A policy, and the time at which this daemon first saw it (Unix time), from which its deadline
// counts.
struct LoadedPolicy {
  k8s::ProfilingPolicy policy;
  int64_t since_ns = 0;
  std::shared_ptr<const PolicyFilter> filter = nullptr;  // PolicySchedule compiles it
};

// Returns the Unix time at which its activeDeadlineSeconds end; INT64_MAX if it has none.
int64_t DeadlineNs(const LoadedPolicy& loaded);
// Tells whether it can ever be in force here: it is supported and not suspended.
bool IsEligible(const LoadedPolicy& loaded);
// Tells whether it is eligible and not over at this moment (Unix time). True also between the
// periods of a periodic policy.
bool IsActive(const LoadedPolicy& loaded, int64_t wall_ns);

// Orders policies. Of two that contradict each other (in `stacks`) the first one applies.
bool ComesBefore(const k8s::ProfilingPolicy& a, const k8s::ProfilingPolicy& b);

}  // namespace firetower::daemon
