// SPDX-License-Identifier: Apache-2.0
#include "daemon/recorder/flight_recorder.h"

#include <algorithm>

namespace firetower::daemon {
namespace {

constexpr uint32_t kNone = ~0u;

// Returns the index in `to` of `from[index]`, which `copy` copies there at the first request.
template <typename Copy>
uint32_t Mapped(std::vector<uint32_t>& known, uint32_t index, size_t next, Copy copy) {
  uint32_t& mapped = known[index];
  if (mapped == kNone) {
    mapped = static_cast<uint32_t>(next);
    copy();
  }
  return mapped;
}

size_t BytesOf(const Slice& slice) {
  return sizeof(Slice) + slice.frames.size() * sizeof(Frame) +
         slice.stacks.size() * sizeof(Slice::Stack) + slice.rows.size() * sizeof(Slice::Row) +
         slice.timed.size() * sizeof(Slice::Timed) + slice.labels.size() * sizeof(TaskLabel) +
         slice.containers.size() * sizeof(Slice::ContainerEntry);
}

int64_t KeepNs(const Slice& slice) {
  int64_t keep_ns = 0;
  for (const Slice::ContainerEntry& entry : slice.containers) {
    keep_ns = std::max(keep_ns, entry.decision.record_ns);
  }
  return keep_ns;
}

}  // namespace

void FlightRecorder::Take(const Slice& slice) {
  Forget(slice.end_ns);
  dropped_samples_ += slice.untimed;
  const auto is_recorded = [&](const Slice::Timed& timed) {
    return slice.containers[slice.rows[timed.row].container].decision.record_ns > 0;
  };
  const auto count = static_cast<size_t>(std::ranges::count_if(slice.timed, is_recorded));
  if (count == 0) return;
  Slice kept;
  kept.begin_ns = slice.begin_ns;
  kept.end_ns = slice.end_ns;
  kept.begin_wall_ns = slice.begin_wall_ns;
  kept.end_wall_ns = slice.end_wall_ns;
  rows_.assign(slice.rows.size(), kNone);
  stacks_.assign(slice.stacks.size(), kNone);
  labels_.assign(slice.labels.size(), kNone);
  containers_.assign(slice.containers.size(), kNone);
  kept.timed.reserve(count);
  for (const Slice::Timed& timed : slice.timed) {
    if (!is_recorded(timed)) continue;
    const uint32_t row = Mapped(rows_, timed.row, kept.rows.size(), [&] {
      Slice::Row copy = slice.rows[timed.row];
      copy.stack = Mapped(stacks_, copy.stack, kept.stacks.size(), [&, stack = copy.stack] {
        const Slice::Stack& from = slice.stacks[stack];
        kept.stacks.push_back({static_cast<uint32_t>(kept.frames.size()), from.size, from.stop});
        const auto begin = slice.frames.begin() + from.begin;
        kept.frames.insert(kept.frames.end(), begin, begin + from.size);
      });
      copy.label = Mapped(labels_, copy.label, kept.labels.size(),
                          [&, label = copy.label] { kept.labels.push_back(slice.labels[label]); });
      copy.container =
          Mapped(containers_, copy.container, kept.containers.size(),
                 [&, from = copy.container] { kept.containers.push_back(slice.containers[from]); });
      kept.rows.push_back(copy);
    });
    kept.timed.push_back({timed.time_ns, row, timed.amount});
  }
  kept.frames.shrink_to_fit();
  kept.rows.shrink_to_fit();
  bytes_ += BytesOf(kept);
  slices_.push_back(std::move(kept));
  while (bytes_ > max_bytes_ && slices_.size() > 1) {
    dropped_samples_ += slices_.front().timed.size();
    DropOldest();
  }
}

void FlightRecorder::Forget(int64_t now_ns) {
  while (!slices_.empty() && slices_.front().end_ns + KeepNs(slices_.front()) + kLateNs < now_ns) {
    DropOldest();
  }
}

void FlightRecorder::DropOldest() {
  bytes_ -= BytesOf(slices_.front());
  slices_.pop_front();
}

}  // namespace firetower::daemon
