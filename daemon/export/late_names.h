// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "daemon/export/container_profile.h"
#include "daemon/export/frame_namer.h"

namespace firetower::daemon {

// The longest wait before profiles are written: some ten large tables can be read in this time.
inline constexpr int64_t kLateNamesNs = 2 * kNsPerSecond;

// Looks up unnamed frames a last time before `profiles` are written. Tables that the cache evicted
// are read again one after another, and each names its frames before the next one is read, so that
// the cache needs room for only one of them. Tables with the most frames come first. Frames that
// are not named by `deadline_ns` (Clock::System(), monotonic) stay unnamed. `mutex`, if not null,
// is held while profiles change, but not while a file is read. Export thread.
void NameLate(FrameNamer& namer, const std::vector<ContainerProfile*>& profiles,
              int64_t deadline_ns, std::mutex* mutex);

}  // namespace firetower::daemon
