// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/capture/rounds/round.h"
#include "daemon/pipeline/slice.h"
#include "daemon/unwind/unwinder.h"

namespace firetower::daemon {

// A cold sample with its final stack.
struct FinishedStack {
  ft_sample sample{};
  TaskLabel label;
  std::optional<TaskFacts> facts;   // for a filter, if its container was not known yet
  std::vector<uint64_t> addresses;  // kernel_frames of the kernel, then the user's, leaf first
  uint32_t kernel_frames = 0;
  uint32_t identity = 0;  // ft_identity() of its process's image
  uint8_t stop = 0;
  std::shared_ptr<const std::vector<ProcessMapping>> mappings;  // of its process at that time
  std::shared_ptr<const AddressSpace> space;  // null: there was no room for them in the arena
};

// Cold samples whose walk waits for an unwind table that is being read. A sample waits at most
// kMaxWaitNs, and all waiting ones hold at most kMaxWaitingBytes of stack, of which the process
// with most of it gives way to others. Beyond that the stack stays cut, with the reason "cold".
//
// Owned by the resolve thread. Memory: these bytes, and some KiB for each waiting sample.
class ColdStacks {
 public:
  static constexpr size_t kMaxWaitingBytes = 8u << 20;
  static constexpr int64_t kMaxWaitNs = 10 * kNsPerSecond;

  ColdStacks(Unwinder& unwinder, ProcessTable& processes, const Clock& clock)
      : unwinder_(unwinder), processes_(processes), clock_(clock) {}

  // Continues a walk; finished stacks go to finished(). `start.addresses` is the part that the
  // kernel side walked.
  void Add(FinishedStack start, const ColdStack& cold, std::span<const std::byte> stack);
  // Continues walks whose table has arrived. `last`: no walk may wait any longer.
  void Retry(bool last = false);

  std::vector<FinishedStack>& finished() { return finished_; }
  size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    FinishedStack stack;
    ColdStack cold;
    std::vector<std::byte> bytes;
    int64_t since_ns = 0;
  };

  // Returns false if that process would hold as much as any other.
  bool MakeRoom(size_t bytes, uint32_t tgid);
  bool WalkOn(FinishedStack& stack, const ColdStack& cold, std::span<const std::byte> bytes);

  Unwinder& unwinder_;
  ProcessTable& processes_;
  const Clock& clock_;
  std::deque<Waiting> waiting_;
  size_t waiting_bytes_ = 0;
  std::vector<FinishedStack> finished_;
  uint64_t tables_seen_ = 0;
};

}  // namespace firetower::daemon
