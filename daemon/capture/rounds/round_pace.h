// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace firetower::daemon {

// Spaces the rounds under pressure. Each costs two threads a wake-up, so they are `every_ms` apart
// on average. But some may follow each other at once: the stacks of a new process are incomplete
// until a round has told the kernel side of its mappings.
class RoundPace {
 public:
  static constexpr int kAtOnce = 10;

  explicit RoundPace(int every_ms) : every_ns_(every_ms * kNsPerMs) {}

  // Returns how many milliseconds to leave the next round behind one that ended at `now_ns`.
  int WaitMs(int64_t now_ns) {
    due_ns_ = std::max(due_ns_, now_ns - kAtOnce * every_ns_) + every_ns_;
    return static_cast<int>(std::max<int64_t>(0, (due_ns_ - now_ns) / kNsPerMs));
  }

 private:
  int64_t every_ns_;
  int64_t due_ns_ = 0;  // when the round after those so far would be, evenly spaced
};

}  // namespace firetower::daemon
