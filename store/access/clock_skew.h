// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace firetower::store {

// By how much ObjectStore::ClockSkewNs may differ from 0 before doctors tell of it: a time service
// keeps the clocks of two machines far closer. The alert FiretowerClockSkewed has the same number.
inline constexpr int64_t kTellSkewSeconds = 60;

}  // namespace firetower::store
