// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/container/growing_array.h"
#include "base/hash.h"
#include "profile/table/id_set.h"

namespace firetower::profile {

// Pool of records of one size; equal records get the same dense id.
template <typename T>
class RecordInterner {
  static_assert(std::has_unique_object_representations_v<T>, "records are compared by their bytes");

 public:
  uint32_t Intern(const T& record) {
    // Merged profiles have similar tables, so the record that came next before is tried first.
    if (next_ < size() && !is_open_ && AreEqual(records_[next_], record)) return next_++;
    const uint32_t hash = HashOf(record);
    uint32_t id = ids_.Find(hash, [&](uint32_t at) { return AreEqual(records_[at], record); });
    if (id == IdSet::kNone) {
      id = size();
      records_.push_back(record);
      ids_.Insert(hash, id);
    }
    next_ = id + 1;
    return id;
  }
  // Returns IdSet::kNone when it was never interned.
  uint32_t Find(const T& record) const {
    return ids_.Find(HashOf(record), [&](uint32_t at) { return AreEqual(records_[at], record); });
  }
  // Adds a record whose id Intern never returns, so that it may be replaced.
  uint32_t AddOpen(const T& record) {
    is_open_ = true;
    records_.push_back(record);
    return size() - 1;
  }
  void Replace(uint32_t id, const T& record) { records_[id] = record; }

  const T& Get(uint32_t id) const { return records_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(records_.size()); }
  GrowingArray<T> TakeRecords() && { return std::move(records_); }
  // The memory held, for byte budgets.
  size_t bytes() const { return records_.bytes() + ids_.bytes(); }
  void Reserve(size_t records) {
    records_.reserve(records);
    ids_.Reserve(records);
  }

 private:
  static uint32_t HashOf(const T& record) {
    return static_cast<uint32_t>(HashBytes({reinterpret_cast<const char*>(&record), sizeof(T)}));
  }
  static bool AreEqual(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

  GrowingArray<T> records_;
  IdSet ids_;
  uint32_t next_ = 0;     // behind what was interned last
  bool is_open_ = false;  // some ids are never given
};

}  // namespace firetower::profile
