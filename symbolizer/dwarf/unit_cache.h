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

// The units' tables of all files, least recently used out first, under one byte budget. Thread-safe
// by a mutex held for one lookup: a file may be forgotten by another thread than the one that
// names.
class UnitCache {
 public:
  explicit UnitCache(size_t budget_bytes) : budget_bytes_(budget_bytes) {}

  // A number for a file that nobody has had before.
  uint64_t NewFile();
  // Null if it is not there.
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
