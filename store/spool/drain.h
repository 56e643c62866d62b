// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "store/spool/spool.h"
#include "store/store.h"

namespace firetower::store {

// Moves the waiting objects of a spool into a store of this machine, the oldest first, until
// `until_ns` (monotonic) or the store's first error. An object leaves the spool when the store has
// it. Damaged objects are dropped, as by the uploader; unreadable ones stay, are skipped, and are
// the error at the end. Returns the number of moved objects.
Result<uint64_t> DrainSpool(Spool& spool, ObjectStore& to, const Clock& clock, int64_t until_ns);

}  // namespace firetower::store
