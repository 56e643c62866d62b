// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <ctime>

namespace firetower {
namespace {

int64_t Now(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

class SystemClock : public Clock {
 public:
  int64_t MonotonicNs() const override { return Now(CLOCK_MONOTONIC); }
  int64_t WallNs() const override { return Now(CLOCK_REALTIME); }
};

}  // namespace

const Clock& Clock::System() {
  static const SystemClock clock;
  return clock;
}

}  // namespace firetower
