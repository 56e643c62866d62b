// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "base/clock.h"

namespace firetower::k8s {

// The delay after a failure: full jitter over a span that doubles from 0.8 s to 30 s, but never
// below 0.2 s, so that no loop spins. Restarts after two minutes without a failure. The spans are
// client-go's (reflector.go), so that nodes are not faster than other clients.
class Backoff {
 public:
  static constexpr int64_t kFirstNs = 800 * kNsPerMs;
  static constexpr int64_t kLastNs = 30 * kNsPerSecond;
  static constexpr int64_t kFloorNs = 200 * kNsPerMs;
  static constexpr int64_t kResetNs = 120 * kNsPerSecond;

  explicit Backoff(uint64_t seed) : random_(seed) {}

  int64_t NextNs(int64_t now_ns) {
    if (span_ns_ == 0 || now_ns - last_ns_ > kResetNs) {
      span_ns_ = kFirstNs;
    } else {
      span_ns_ = std::min(2 * span_ns_, kLastNs);
    }
    last_ns_ = now_ns;
    return Between(kFloorNs, span_ns_);
  }
  // Returns a uniform random number, both ends included.
  int64_t Between(int64_t from_ns, int64_t to_ns) {
    return std::uniform_int_distribution<int64_t>(from_ns, to_ns)(random_);
  }

 private:
  std::mt19937_64 random_;
  int64_t span_ns_ = 0;
  int64_t last_ns_ = 0;
};

}  // namespace firetower::k8s
