// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// Keeps the last seconds of the containers that armed triggers watch, so that a capture includes
// the time before its threshold was crossed. From each slice it keeps the samples, with their
// times, of containers whose decision has `record_ns`, for the longest of these times.
//
// Owned by the export thread. Bounded by `max_bytes`: beyond that the oldest slices are dropped
// early, and captures begin later than asked.
class FlightRecorder {
 public:
  static constexpr size_t kMaxBytes = 16 << 20;
  // The delay between the moment from which a capture counts and its order: the control thread runs
  // once a second, and the order is taken with the next slice.
  static constexpr int64_t kLateNs = 15 * kNsPerSecond;

  explicit FlightRecorder(size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  void Take(const Slice& slice);
  // All kept data, oldest first: slices with only the recorded rows, each with its samples in
  // `timed`.
  const std::deque<Slice>& slices() const { return slices_; }
  size_t bytes() const { return bytes_; }
  // The number of samples that were dropped early or never recorded.
  uint64_t dropped_samples() const { return dropped_samples_; }

 private:
  void Forget(int64_t now_ns);
  void DropOldest();

  const size_t max_bytes_;
  size_t bytes_ = 0;
  uint64_t dropped_samples_ = 0;
  std::deque<Slice> slices_;
  // Scratch: the new indices of the slice's rows, stacks, labels and containers.
  std::vector<uint32_t> rows_, stacks_, labels_, containers_;
};

}  // namespace firetower::daemon
