// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace firetower::daemon {

// How often an event is sampled. With both, the period counts.
struct EventRate {
  uint32_t hertz = 0;   // samples of each CPU in a second, about
  uint64_t period = 0;  // each n-th event of a CPU is a sample

  bool any() const { return hertz > 0 || period > 0; }
  // Raises it to what `other` asks for as well.
  void Raise(const EventRate& other) {
    hertz = std::max(hertz, other.hertz);
    if (other.period > 0 && (period == 0 || other.period < period)) period = other.period;
  }
  bool operator==(const EventRate&) const = default;
};

}  // namespace firetower::daemon
