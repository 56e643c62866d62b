// SPDX-License-Identifier: Apache-2.0
#include "store/s3/http/pause.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/clock.h"

namespace firetower::store::s3 {
namespace {

class SystemPause final : public Pause {
 public:
  void For(int64_t ns, const CallLimits& limits) override {
    if (limits.deadline_ns != CallLimits::kNoDeadline) {
      ns = std::min(ns, limits.deadline_ns - Clock::System().MonotonicNs());
    }
    if (ns <= 0) return;
    std::mutex mutex;  // only because the condition variable needs one
    std::unique_lock lock(mutex);
    std::condition_variable_any condition;
    condition.wait_for(lock, limits.stop, std::chrono::nanoseconds(ns), [] { return false; });
  }
};

}  // namespace

Pause& Pause::System() {
  static SystemPause pause;
  return pause;
}

}  // namespace firetower::store::s3
