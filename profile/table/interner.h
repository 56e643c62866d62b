// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/hash.h"
#include "profile/table/id_set.h"
#include "profile/table/pool.h"

namespace firetower::profile {

// Pool that gives equal arrays the same id. Strings are arrays of char, stacks are arrays of
// location ids.
template <typename T>
class Interner {
  static_assert(std::has_unique_object_representations_v<T>, "arrays are compared by their bytes");

 public:
  uint32_t Intern(std::span<const T> items) {
    // Merged profiles have similar tables, so the item that came next before is tried first.
    if (next_ < pool_.size() && AsBytes(pool_.Get(next_)) == AsBytes(items)) return next_++;
    uint32_t hash = HashOf(items);
    uint32_t id = FindHashed(items, hash);
    if (id == IdSet::kNone) {
      id = pool_.Append(items);
      ids_.Insert(hash, id);
    }
    next_ = id + 1;
    return id;
  }
  // Returns IdSet::kNone when it was never interned.
  uint32_t Find(std::span<const T> items) const { return FindHashed(items, HashOf(items)); }

  const Pool<T>& pool() const { return pool_; }
  Pool<T> TakePool() && { return std::move(pool_); }
  uint32_t size() const { return pool_.size(); }
  size_t bytes() const { return pool_.bytes() + ids_.bytes(); }
  void Reserve(size_t arrays, size_t items) {
    pool_.Reserve(arrays, items);
    ids_.Reserve(arrays);
  }

 private:
  static std::string_view AsBytes(std::span<const T> items) {
    return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
  }
  static uint32_t HashOf(std::span<const T> items) {
    return static_cast<uint32_t>(HashBytes(AsBytes(items)));
  }
  uint32_t FindHashed(std::span<const T> items, uint32_t hash) const {
    std::string_view bytes = AsBytes(items);
    return ids_.Find(hash, [&](uint32_t at) { return AsBytes(pool_.Get(at)) == bytes; });
  }
  Pool<T> pool_;
  IdSet ids_;
  uint32_t next_ = 0;  // behind what was interned last
};

}  // namespace firetower::profile
