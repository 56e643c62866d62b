// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/health/store_check.h"
#include "daemon/outbox/store_side.h"
#include "store/store.h"

namespace firetower::daemon {

inline constexpr size_t kStoreProbeBytes = 64u << 10;

// How a folder stands: its damaged objects, and whether it takes kStoreProbeBytes, which are
// written and deleted again. A full disk still takes an empty file. Any thread.
StoreFacts ProbeStore(store::ObjectStore& store);
// Probes the store of the daemon's own profiles, and reports how the last writes went: a larger
// object than the probe may be refused. A store that is not a folder of this machine is only
// listed, within 5 s: it also has other nodes' objects, and not all are read.
StoreFacts ProbeStore(StoreSide& side, const Clock& clock);

}  // namespace firetower::daemon
