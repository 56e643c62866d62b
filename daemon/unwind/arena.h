// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "daemon/capture/unwind_memory.h"

namespace firetower::daemon {

// Allocates ranges of the unwind memory, first fit, in units of a cache line. A slab is created
// when a range first uses it, and freed when nothing is left in it.
//
// A walk may still read freed memory that it has just looked up. Therefore freed memory is reused
// only after kGraceNs, when Reclaim is called. Owned by the resolve thread.
class Arena {
 public:
  // Walks run with interrupts off and end within microseconds.
  static constexpr int64_t kGraceNs = 100'000'000;
  static constexpr uint32_t kUnitBytes = 64;

  // Uses at most `budget_bytes` of slabs, and at least one slab.
  Arena(UnwindMemory& memory, uint64_t budget_bytes);
  ~Arena();

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns the position of `bytes` (1 or more) that start at a multiple of kUnitBytes; nullopt if
  // the budget has no such range, or the kernel no memory.
  std::optional<uint32_t> Allocate(uint64_t bytes);
  // Frees a position that Allocate returned.
  void Free(uint32_t position, int64_t now_ns);
  void Reclaim(int64_t now_ns);

  std::byte* At(uint32_t position) { return memory_.arena() + position; }
  uint64_t slab_bytes() const { return uint64_t{slabs_in_use_} * FT_SLAB_BYTES; }
  uint64_t used_bytes() const { return used_bytes_; }

 private:
  struct Freed {
    uint32_t position = 0;
    int64_t reusable_ns = 0;
  };

  bool TakeSlabs(uint32_t begin, uint32_t end);
  void ReleaseSlabs(uint32_t begin, uint32_t end);
  void Merge(uint32_t position, uint32_t bytes);

  UnwindMemory& memory_;
  std::map<uint32_t, uint32_t> free_;  // position -> bytes
  std::map<uint32_t, uint32_t> used_;
  std::vector<uint32_t> in_slab_;  // ranges in use that touch it
  std::deque<Freed> freed_;
  uint32_t slabs_in_use_ = 0;
  uint64_t used_bytes_ = 0;
};

}  // namespace firetower::daemon
