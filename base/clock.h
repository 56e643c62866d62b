// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace firetower {

inline constexpr int64_t kNsPerSecond = 1'000'000'000;
inline constexpr int64_t kNsPerMs = 1'000'000;

// The two clocks that the product uses. Samples and sideband records carry the monotonic one
// (CLOCK_MONOTONIC, which bpf_ktime_get_ns returns); windows and files carry the wall clock.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t MonotonicNs() const = 0;
  // Returns nanoseconds since the Unix epoch, UTC.
  virtual int64_t WallNs() const = 0;

  static const Clock& System();
};

// Clock that moves only on request. Both times advance together.
class FakeClock : public Clock {
 public:
  FakeClock(int64_t monotonic_ns, int64_t wall_ns)
      : monotonic_ns_(monotonic_ns), wall_ns_(wall_ns) {}
  int64_t MonotonicNs() const override { return monotonic_ns_; }
  int64_t WallNs() const override { return wall_ns_; }
  void Advance(int64_t ns) {
    monotonic_ns_ += ns;
    wall_ns_ += ns;
  }
  void StepWall(int64_t ns) { wall_ns_ += ns; }

 private:
  int64_t monotonic_ns_;
  int64_t wall_ns_;
};

}  // namespace firetower
