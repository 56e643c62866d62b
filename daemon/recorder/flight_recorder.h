// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// The last seconds of what armed triggers watch, so that a capture holds the time before its
// threshold was crossed. It keeps, of each slice, the samples of containers whose decision says
// `record_ns`, for as long as the longest of these, each with its time.
//
// Owned by the export thread. Bounded by `max_bytes`: beyond that the oldest slices go early, and
// captures begin later than asked.
class FlightRecorder {
 public:
  static constexpr size_t kMaxBytes = 16 << 20;
  // A capture is ordered some time after the moment it is counted from: the control thread looks
  // once a second, and the order is taken with the next slice.
  static constexpr int64_t kLateNs = 15 * kNsPerSecond;

  explicit FlightRecorder(size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  void Take(const Slice& slice);
  // Everything kept, oldest first: slices with the recorded rows only, each of which has its
  // samples in `timed`.
  const std::deque<Slice>& slices() const { return slices_; }
  size_t bytes() const { return bytes_; }
  // Samples that went before their time, or never came.
  uint64_t dropped_samples() const { return dropped_samples_; }

 private:
  void Forget(int64_t now_ns);
  void DropOldest();

  const size_t max_bytes_;
  size_t bytes_ = 0;
  uint64_t dropped_samples_ = 0;
  std::deque<Slice> slices_;
  // Scratch: what became of the slice's rows, stacks, labels and containers.
  std::vector<uint32_t> rows_, stacks_, labels_, containers_;
};

}  // namespace firetower::daemon
