// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "daemon/process/module.h"
#include "daemon/unwind/arena.h"
#include "daemon/unwind/packed_table.h"

namespace firetower::daemon {

// The unwind tables in the arena, by module, as an LRU cache with a budget. After an eviction the
// module is cold again, and its next stack requests the table again.
//
// Numbers the tables from 1 on. The kernel side caches rules by that number, so one sampler's
// memory belongs to one ModuleTables forever. Owned by the resolve thread.
class ModuleTables {
 public:
  // A table may take at most this fraction (1 / kLargestShare) of the arena, so that one file
  // cannot evict all others.
  static constexpr uint64_t kLargestShare = 2;

  ModuleTables(UnwindMemory& memory, Arena& arena, uint64_t budget_bytes, const Clock& clock);

  enum class State : uint8_t { kWanted, kAsked, kTable, kNone };
  State Get(uint32_t module) const;
  void SetAsked(uint32_t module) { StateOf(module) = State::kAsked; }
  // Marks a table that could not be read this time: the next stack requests it again.
  void SetWanted(uint32_t module) { StateOf(module) = State::kWanted; }
  // Marks a module without a table: its frames are walked by frame pointers.
  void SetNone(uint32_t module);
  // Copies `table` into the arena. Returns false if it is too large; its module then has no table.
  bool Insert(uint32_t module, const PackedTable& table);
  // Marks a module as used by a stack.
  void Touch(uint32_t module);
  // Drops tables of modules for which `mapped` is false for the second time in a row, so that a
  // compiler or a cron job that runs again still finds its table.
  void DropUnmapped(const std::vector<bool>& mapped);
  // Forgets an id that belongs to another file from now on.
  void Forget(uint32_t module);

  size_t size() const { return tables_.size(); }
  uint64_t bytes() const { return bytes_; }
  uint64_t evicted() const { return evicted_; }
  uint64_t refused() const { return refused_; }

 private:
  struct Table {
    uint32_t position = 0;
    uint32_t bytes = 0;
    int64_t used_ns = 0;
    bool unmapped = false;  // when it was looked for last
  };

  State& StateOf(uint32_t module);
  bool EvictOldest();
  void Drop(uint32_t module);

  UnwindMemory& memory_;
  Arena& arena_;
  const Clock& clock_;
  uint64_t budget_bytes_;
  std::vector<State> states_;
  std::unordered_map<uint32_t, Table> tables_;
  uint64_t bytes_ = 0;
  uint64_t evicted_ = 0;
  uint64_t refused_ = 0;
  uint32_t serial_ = 0;  // the last table's
};

}  // namespace firetower::daemon
