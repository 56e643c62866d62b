// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "symbolizer/dwarf/unit_table.h"

namespace firetower::symbolizer::dwarf {

// LRU cache of unit tables of all files, with one byte budget. Thread-safe by a mutex that is held
// for one look-up, because one thread may drop a file while another one names frames.
class UnitCache {
 public:
  explicit UnitCache(size_t budget_bytes) : budget_bytes_(budget_bytes) {}

  // Returns a new number for a file.
  uint64_t NewFile();
  // Returns null if it is not cached.
  std::shared_ptr<const UnitTable> Find(uint64_t file, size_t unit);
  bool Has(uint64_t file, size_t unit) const;
  void Insert(uint64_t file, size_t unit, std::shared_ptr<const UnitTable> table);
  void Forget(uint64_t file);

  size_t bytes() const;
  size_t files() const;

 private:
  using Key = std::pair<uint64_t, size_t>;
  struct Entry {
    Key key;
    std::shared_ptr<const UnitTable> table;
    size_t cost_bytes;
  };
  void Remove(std::list<Entry>::iterator entry);

  mutable std::mutex mutex_;
  size_t budget_bytes_;
  size_t bytes_ = 0;
  uint64_t next_file_ = 0;
  size_t files_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::map<Key, std::list<Entry>::iterator> index_;
};

}  // namespace firetower::symbolizer::dwarf
