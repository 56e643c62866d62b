// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "store/spool/spool.h"
#include "store/store.h"

namespace firetower::store {

// Moves what waits in a spool into a store of this machine, the oldest first, until `until_ns`
// (monotonic) or the store's first error: an object leaves the spool when the store has it. What is
// damaged is dropped, as an uploader does; what cannot be read stays, is passed over, and is the
// error at the end. How many were moved.
Result<uint64_t> DrainSpool(Spool& spool, ObjectStore& to, const Clock& clock, int64_t until_ns);

}  // namespace firetower::store
