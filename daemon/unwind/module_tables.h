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

// The unwind tables in the arena, by module. Under a budget the table that was used least recently
// goes first; its module is cold again, and its next stack asks for it anew.
//
// Numbers the tables, from 1 on; the kernel side keeps rules by that number, so one sampler's
// memory is one ModuleTables's for good. Owned by the resolve thread.
class ModuleTables {
 public:
  // No table may take more than this share of the arena, so that one file cannot push out all.
  static constexpr uint64_t kLargestShare = 2;

  ModuleTables(UnwindMemory& memory, Arena& arena, uint64_t budget_bytes, const Clock& clock);

  enum class State : uint8_t { kWanted, kAsked, kTable, kNone };
  State Get(uint32_t module) const;
  void SetAsked(uint32_t module) { StateOf(module) = State::kAsked; }
  // It could not be read this time: the next stack asks again.
  void SetWanted(uint32_t module) { StateOf(module) = State::kWanted; }
  // The module has no table, and never will: frame pointers.
  void SetNone(uint32_t module);
  // Copies `table` into the arena. False if it is too large for it; its module is without then.
  bool Insert(uint32_t module, const PackedTable& table);
  // A stack went through it.
  void Touch(uint32_t module);
  // Drops tables of modules for which `mapped` is false for the second time in a row: a compiler or
  // a cron job that runs again finds its own still there.
  void DropUnmapped(const std::vector<bool>& mapped);
  // The id stands for another file from now on.
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
