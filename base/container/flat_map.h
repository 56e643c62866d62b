// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace firetower {

// Hash map from 64-bit keys that are already well mixed (hashes, pointers, ids) to small values,
// for hot paths. Uses open addressing; Clear keeps the memory. Not thread-safe. Value must be
// default-constructible and cheap to copy.
template <typename Value>
class FlatMap {
 public:
  explicit FlatMap(size_t capacity = 64) { Rehash(capacity); }

  size_t size() const { return size_; }

  // Returns the value of `key`, or nullptr. Valid until the next Insert, Erase or Clear.
  Value* Find(uint64_t key) {
    for (size_t i = Slot(key);; i = (i + 1) & mask_) {
      if (!used_[i]) return nullptr;
      if (keys_[i] == key) return &values_[i];
    }
  }
  const Value* Find(uint64_t key) const { return const_cast<FlatMap*>(this)->Find(key); }

  // Returns the value of `key`, which is default-constructed if it is new; then *inserted is true.
  Value& Insert(uint64_t key, bool* inserted) {
    if ((size_ + 1) * 4 > (mask_ + 1) * 3) Rehash((mask_ + 1) * 2);
    size_t i = Slot(key);
    while (used_[i] && keys_[i] != key) i = (i + 1) & mask_;
    *inserted = !used_[i];
    if (!used_[i]) {
      used_[i] = 1;
      keys_[i] = key;
      values_[i] = Value{};
      ++size_;
    }
    return values_[i];
  }

  // Backward-shift deletion: no tombstones, so lookups stay short for ever.
  bool Erase(uint64_t key) {
    size_t hole = Slot(key);
    while (used_[hole] && keys_[hole] != key) hole = (hole + 1) & mask_;
    if (!used_[hole]) return false;
    for (size_t next = (hole + 1) & mask_; used_[next]; next = (next + 1) & mask_) {
      size_t home = Slot(keys_[next]);
      if (((next - home) & mask_) >= ((next - hole) & mask_)) {
        keys_[hole] = keys_[next];
        values_[hole] = values_[next];
        hole = next;
      }
    }
    used_[hole] = 0;
    values_[hole] = Value{};
    --size_;
    return true;
  }

  void Clear() {
    used_.assign(used_.size(), 0);
    size_ = 0;
  }

  template <typename Visit>
  void ForEach(Visit visit) {
    for (size_t i = 0; i <= mask_; ++i) {
      if (used_[i]) visit(keys_[i], values_[i]);
    }
  }

 private:
  // Spreads dense ids over the slots (Fibonacci hashing).
  size_t Slot(uint64_t key) const {
    return static_cast<size_t>((key * 0x9E3779B97F4A7C15ull) >> 17) & mask_;
  }

  void Rehash(size_t wanted) {
    size_t capacity = 16;
    while (capacity < wanted) capacity *= 2;
    std::vector<uint64_t> keys(capacity);
    std::vector<Value> values(capacity);
    std::vector<uint8_t> used(capacity, 0);
    keys.swap(keys_);
    values.swap(values_);
    used.swap(used_);
    mask_ = capacity - 1;
    size_ = 0;
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      bool inserted = false;
      Insert(keys[i], &inserted) = values[i];
    }
  }

  std::vector<uint64_t> keys_;
  std::vector<Value> values_;
  std::vector<uint8_t> used_;
  size_t mask_ = 0;
  size_t size_ = 0;
};

// Finds an entry in a map from hashes to indices of a list: the entry with `hash` for which
// `equal(index)` is true, else a new one. Values with the same 64-bit hash get separate entries,
// which costs one more probe.
template <typename Equal>
uint32_t& FindOrInsert(FlatMap<uint32_t>& map, uint64_t hash, Equal equal, bool* inserted) {
  for (;; ++hash) {
    uint32_t& place = map.Insert(hash, inserted);
    if (*inserted || equal(place)) return place;
  }
}

}  // namespace firetower
