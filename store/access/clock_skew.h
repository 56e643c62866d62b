// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace firetower::store {

// The ObjectStore::ClockSkewNs above which doctors warn: a time service keeps the clocks of two
// machines far closer. The alert FiretowerClockSkewed has the same number.
inline constexpr int64_t kTellSkewSeconds = 60;

}  // namespace firetower::store
