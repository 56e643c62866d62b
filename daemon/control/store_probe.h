// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/health/host_checks.h"
#include "daemon/outbox/store_side.h"
#include "store/store.h"

namespace firetower::daemon {

inline constexpr size_t kStoreProbeBytes = 64u << 10;

// How the store stands: its damaged objects, and whether it takes kStoreProbeBytes, which are
// written and deleted again. A full disk still takes an empty file. `put_failed`: what the daemon
// wrote last was refused, which a profile that is larger than the probe may be. Any thread.
StoreFacts ProbeStore(store::ObjectStore& store, bool put_failed);
// The same of where the daemon's own profiles go; of a store that is not a folder of this machine
// whether it can be reached within 5 s: its objects are others' too, and not all are read.
StoreFacts ProbeStore(StoreSide& side, bool put_failed);

}  // namespace firetower::daemon
