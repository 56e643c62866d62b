// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "daemon/outbox/outbox.h"
#include "store/retention.h"
#include "store/store.h"

namespace firetower::daemon {

// Applies retention to a store that only this node writes to. Belongs to one thread.
class Sweep {
 public:
  // All references must outlive this.
  Sweep(store::ObjectStore& store, StoreObserver& observer, const Clock& clock,
        const store::RetentionPolicy& policy)
      : store_(store), observer_(observer), clock_(clock), policy_(policy) {}

  // Deletes old objects. A failure is logged, and the next run tries again.
  void Run();

 private:
  store::ObjectStore& store_;
  StoreObserver& observer_;
  const Clock& clock_;
  const store::RetentionPolicy policy_;
};

}  // namespace firetower::daemon
