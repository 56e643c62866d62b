// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "daemon/export/container_profile.h"
#include "daemon/export/frame_namer.h"

namespace firetower::daemon {

// What profiles wait for at most before they are written: some ten large tables.
inline constexpr int64_t kLateNamesNs = 2 * kNsPerSecond;

// A last look for the names of frames that have none, before `profiles` are written. Tables that
// the cache gave up are read again, one after another, and name their frames before the next comes:
// so the cache need have room for each of them, not for all. Those with most frames come first;
// what has not come by `deadline_ns` (Clock::System(), monotonic) stays without a name. `mutex`, if
// not null, is held while profiles change, not while a file is read. Export thread.
void NameLate(FrameNamer& namer, const std::vector<ContainerProfile*>& profiles,
              int64_t deadline_ns, std::mutex* mutex);

}  // namespace firetower::daemon
