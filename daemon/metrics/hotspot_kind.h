// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace firetower::daemon {

// The hotspots that have families on /metrics.
enum class HotspotKind : uint8_t { kCpu, kOffCpu, kLock, kPageFaults, kAllocations };
inline constexpr size_t kHotspotKinds = 5;

}  // namespace firetower::daemon
