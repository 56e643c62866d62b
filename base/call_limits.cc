// SPDX-License-Identifier: Apache-2.0
#include "base/call_limits.h"

namespace firetower {

Status CheckLimits(const CallLimits& limits, const Clock& clock) {
  if (limits.stop.stop_requested())
    return Error(ErrorCode::kUnavailable, "cancelled: the caller no longer waits");
  if (limits.deadline_ns != CallLimits::kNoDeadline && clock.MonotonicNs() >= limits.deadline_ns)
    return Error(ErrorCode::kUnavailable, "deadline exceeded");
  return OkStatus();
}

}  // namespace firetower
