// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/loaded_policy.h"

#include <limits>

#include "base/clock.h"
#include "k8s/policy/served.h"

namespace firetower::daemon {

int64_t DeadlineNs(const LoadedPolicy& loaded) {
  return loaded.policy.spec.active_deadline_seconds
             ? loaded.since_ns + *loaded.policy.spec.active_deadline_seconds * kNsPerSecond
             : std::numeric_limits<int64_t>::max();
}

bool IsEligible(const LoadedPolicy& loaded) {
  return k8s::Served(loaded.policy).served && !loaded.policy.spec.suspend;
}

bool IsActive(const LoadedPolicy& loaded, int64_t wall_ns) {
  return IsEligible(loaded) && wall_ns < DeadlineNs(loaded);
}

bool ComesBefore(const k8s::ProfilingPolicy& a, const k8s::ProfilingPolicy& b) {
  if (a.spec.priority != b.spec.priority) return a.spec.priority > b.spec.priority;
  if (a.cluster != b.cluster) return !a.cluster;
  if (a.created_ns != b.created_ns) return a.created_ns < b.created_ns;
  return DisplayName(a) < DisplayName(b);
}

}  // namespace firetower::daemon
