// SPDX-License-Identifier: Apache-2.0
// Pool<T>: many short arrays in one vector, each with a dense id; 2^32 items in all. Interner<T>: a
// pool that gives equal arrays the same id. A profile is a handful of these: strings are arrays of
// char, stacks are arrays of location ids, a record is an array of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"

namespace firetower::profile {

template <typename T>
class Pool {
 public:
  uint32_t size() const { return static_cast<uint32_t>(ends_.size()); }
  std::span<const T> Get(uint32_t id) const {
    size_t begin = id == 0 ? 0 : ends_[id - 1];
    return {items_.data() + begin, ends_[id] - begin};
  }
  // Memory held, for byte budgets.
  size_t bytes() const {
    return items_.capacity() * sizeof(T) + ends_.capacity() * sizeof(uint32_t);
  }
  uint32_t Append(std::span<const T> items) {
    items_.insert(items_.end(), items.begin(), items.end());
    CHECK(items_.size() <= std::numeric_limits<uint32_t>::max());
    ends_.push_back(static_cast<uint32_t>(items_.size()));
    return size() - 1;
  }
  // Arrays keep their lengths.
  void Replace(uint32_t id, const T& item) { items_[id == 0 ? 0 : ends_[id - 1]] = item; }
  void Reserve(size_t arrays, size_t items) {
    ends_.reserve(arrays);
    items_.reserve(items);
  }

 private:
  std::vector<T> items_;
  std::vector<uint32_t> ends_;
};

// An open-addressing set of ids, found by hash and a caller's equality: 8 bytes a slot, linear
// probing, at most 70 % full, nothing is ever erased.
class IdSet {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  template <typename Equal>
  uint32_t Find(uint32_t hash, const Equal& equal) const {
    if (slots_.empty()) return kNone;
    for (size_t i = Home(hash);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.id == kNone) return kNone;
      if (slot.hash == hash && equal(slot.id)) return slot.id;
    }
  }
  void Insert(uint32_t hash, uint32_t id) {
    if ((used_ + 1) * 10 > slots_.size() * 7) Grow(slots_.empty() ? 16 : slots_.size() * 2);
    Place(hash, id);
    ++used_;
  }
  void Reserve(size_t ids) {
    size_t want = 16;
    while (want * 7 < ids * 10) want *= 2;
    if (want > slots_.size()) Grow(want);
  }
  size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = kNone;
  };
  // Fibonacci hashing: spreads a weak low half over the table.
  size_t Home(uint32_t hash) const {
    return static_cast<size_t>(hash * 0x9E3779B97F4A7C15ull >> 32) & (slots_.size() - 1);
  }
  void Place(uint32_t hash, uint32_t id) {
    size_t i = Home(hash);
    while (slots_[i].id != kNone) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {hash, id};
  }
  void Grow(size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != kNone) Place(slot.hash, slot.id);
    }
  }
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

template <typename T>
class Interner {
  static_assert(std::has_unique_object_representations_v<T>, "arrays are compared by their bytes");

 public:
  uint32_t Intern(std::span<const T> items) {
    // Tables of profiles that are merged are much alike: what followed before follows again.
    if (next_ < pool_.size() && !is_open_ && AsBytes(pool_.Get(next_)) == AsBytes(items))
      return next_++;
    uint32_t hash = HashOf(items);
    uint32_t id = FindHashed(items, hash);
    if (id == IdSet::kNone) {
      id = pool_.Append(items);
      ids_.Insert(hash, id);
    }
    next_ = id + 1;
    return id;
  }
  // IdSet::kNone when it was never interned.
  uint32_t Find(std::span<const T> items) const { return FindHashed(items, HashOf(items)); }
  uint32_t Intern(const T& item) { return Intern(std::span<const T>(&item, 1)); }

  // An id of its own that Find and Intern never give, so that it may be replaced.
  uint32_t AddOpen(const T& item) {
    is_open_ = true;
    return pool_.Append(std::span<const T>(&item, 1));
  }
  void Replace(uint32_t id, const T& item) { pool_.Replace(id, item); }

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
  uint32_t next_ = 0;     // behind what was interned last
  bool is_open_ = false;  // some ids are never given
};

}  // namespace firetower::profile
