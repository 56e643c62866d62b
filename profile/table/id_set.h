// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace firetower::profile {

// Set of ids with open addressing, searched by hash and by the caller's equality: 8 bytes per slot,
// linear probing, at most 70 % full, no removal.
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

}  // namespace firetower::profile
