// SPDX-License-Identifier: Apache-2.0
#include "store/access/limited_store.h"

#include <memory>
#include <utility>

namespace firetower::store {

Status CheckLimits(const CallLimits& limits, const Clock& clock) {
  if (limits.stop.stop_requested()) {
    return Error(ErrorCode::kUnavailable, "cancelled: who asked no longer waits");
  }
  if (limits.deadline_ns != CallLimits::kNoDeadline && clock.MonotonicNs() >= limits.deadline_ns) {
    return Error(ErrorCode::kUnavailable, "not done before its deadline");
  }
  return OkStatus();
}

std::unique_ptr<ObjectStore> ObjectStore::DoLimited(CallLimits limits) {
  return std::make_unique<LimitedStore>(*this, std::move(limits));
}

}  // namespace firetower::store
