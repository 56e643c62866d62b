// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "daemon/outbox/outbox.h"

namespace firetower::daemon {

// The last results of an operation: monotonic times, and the error of the last try.
struct LastTries {
  std::optional<int64_t> succeeded_ns;
  std::optional<int64_t> failed_ns;
  std::optional<Error> error;  // unset: the last one succeeded, or there was none
};

// Remembers how the last operations on the store ended, for health checks, and forwards each to the
// next observer. Any thread.
class StoreHealth : public StoreObserver {
 public:
  explicit StoreHealth(const Clock& clock) : clock_(clock) {}
  // Must be called once, before anything is stored. The observer must outlive this.
  void ForwardTo(StoreObserver& next) { next_ = &next; }

  void OnStoreOperation(std::string_view operation, const Status& result,
                        int64_t duration_ns) override;
  LastTries puts() const { return Get(puts_); }
  LastTries spooled() const { return Get(spooled_); }

 private:
  LastTries Get(const LastTries& tries) const {
    const std::lock_guard lock(mutex_);
    return tries;
  }

  const Clock& clock_;
  StoreObserver* next_ = nullptr;
  mutable std::mutex mutex_;  // a few times a minute
  LastTries puts_;
  LastTries spooled_;
};

}  // namespace firetower::daemon
