// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/store_health.h"

namespace firetower::daemon {

void StoreHealth::OnStoreOperation(std::string_view operation, const Status& result,
                                   int64_t duration_ns) {
  if (operation == "put" || operation == "spool") {
    const std::lock_guard lock(mutex_);
    LastTries& tries = operation == "put" ? puts_ : spooled_;
    (result ? tries.succeeded_ns : tries.failed_ns) = clock_.MonotonicNs();
    tries.error.reset();
    if (!result) tries.error = result.error();
  }
  if (next_ != nullptr) next_->OnStoreOperation(operation, result, duration_ns);
}

}  // namespace firetower::daemon
