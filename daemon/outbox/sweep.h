// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "daemon/outbox/outbox.h"
#include "store/retention.h"
#include "store/store.h"

namespace firetower::daemon {

// Holds a store to its retention: for one that nobody else writes to. One thread.
class Sweep {
 public:
  // What is referred to outlives this.
  Sweep(store::ObjectStore& store, StoreObserver& observer, const Clock& clock,
        const store::RetentionPolicy& policy)
      : store_(store), observer_(observer), clock_(clock), policy_(policy) {}

  // What fails is logged, and tried again with the next one.
  void Run();

 private:
  store::ObjectStore& store_;
  StoreObserver& observer_;
  const Clock& clock_;
  const store::RetentionPolicy policy_;
};

}  // namespace firetower::daemon
