// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "bpf/abi/record.h"

namespace firetower::daemon {

// The events that are sampled on this node, as policies name them; the one at n has the type
// FT_TYPE_EVENT + n. Empty: not used.
using EventNames = std::array<std::string, FT_MAX_EVENTS>;

// Returns the number of an event; unset if it has none.
std::optional<size_t> SlotOf(const EventNames& names, std::string_view name);

// Gives events their numbers. Owned by one thread.
class EventSlots {
 public:
  // A number rests that long before another event gets it, until no profile of the old one is open.
  static constexpr int64_t kRestNs = 300 * kNsPerSecond;

  // Gives each of `wanted` a number, as far as there are any; those that have one keep it.
  // `now_ns` (monotonic) never goes back.
  const EventNames& Assign(const std::set<std::string>& wanted, int64_t now_ns);

 private:
  EventNames names_;                              // of now and of the last time
  std::array<bool, FT_MAX_EVENTS> wanted_{};      // by the last call
  std::array<int64_t, FT_MAX_EVENTS> used_ns_{};  // when it was wanted last
};

}  // namespace firetower::daemon
