// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// LRU cache of symbol tables, one per object file, with one byte budget that counts tables, keys
// and bookkeeping. A file that could not be loaded leaves a negative entry, so that it is not
// parsed again and again; negative entries have a cap of their own.
//
// Thread-safe by a mutex (the resolve and tables threads share it), which is held for one hash
// look-up and two list links; loading happens outside. An evicted table lives as long as a caller
// holds it.
class SymbolCache {
 public:
  static constexpr size_t kDefaultBudgetBytes = 32u << 20;
  static constexpr size_t kMaxNegativeEntries = 1024;

  enum class State { kMiss, kHit, kNegative };
  struct Found {
    State state = State::kMiss;
    std::shared_ptr<const SymbolTable> table;  // set on kHit
  };
  struct Counters {
    uint64_t hits = 0;  // negative hits included
    uint64_t misses = 0;
    uint64_t evictions = 0;
    uint64_t too_large = 0;  // tables refused because they alone exceed the budget
    size_t bytes = 0;        // what the budget is held against
    size_t tables = 0;
    size_t negatives = 0;
  };

  explicit SymbolCache(size_t budget_bytes = kDefaultBudgetBytes) : budget_bytes_(budget_bytes) {}

  Found Find(std::string_view key);
  // Replaces an existing entry. A table larger than the whole budget becomes a negative entry.
  void Insert(std::string_view key, std::shared_ptr<const SymbolTable> table);
  void InsertNegative(std::string_view key);
  void Erase(std::string_view key);
  void SetBudget(size_t budget_bytes);
  Counters counters() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const SymbolTable> table;  // null: negative
    size_t cost_bytes;
  };
  using Entries = std::list<Entry>;  // most recently used first

  void InsertLocked(std::string_view key, std::shared_ptr<const SymbolTable> table);
  void EraseLocked(std::string_view key);
  void RemoveLocked(Entries& entries, Entries::iterator entry);
  void EvictLocked();

  mutable std::mutex mutex_;
  size_t budget_bytes_;
  Entries positive_;
  Entries negative_;
  std::unordered_map<std::string_view, Entries::iterator> index_;  // keys live in the entries
  Counters counters_;
};

// Returns the key of a file without a build id. It identifies the content as well as the file
// system can.
std::string FileKey(uint64_t device, uint64_t inode, int64_t mtime_ns);

}  // namespace firetower::symbolizer
