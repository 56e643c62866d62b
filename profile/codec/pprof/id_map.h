// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profile/table/id_set.h"

namespace firetower::profile {

// Maps the ids in a file to the indices of their entries. Writers number from 1 upwards, so most
// ids are in the array.
class IdMap {
 public:
  static constexpr uint32_t kNone = IdSet::kNone;

  // Returns false when the id is 0 or already used.
  bool Add(uint64_t id, uint32_t index) {
    if (id != dense_.size() || id == 0 || id > kMaxDense) return AddOutOfOrder(id, index);
    dense_.push_back(index);
    return true;
  }
  uint32_t Find(uint64_t id) const {
    if (id < dense_.size()) return dense_[id];
    if (sparse_.empty()) return kNone;
    auto found = sparse_.find(id);
    return found == sparse_.end() ? kNone : found->second;
  }
  void Clear() {
    dense_.clear();
    sparse_.clear();
  }

 private:
  bool AddOutOfOrder(uint64_t id, uint32_t index);

  static constexpr uint64_t kMaxDense = 1 << 20;
  std::vector<uint32_t> dense_;
  std::unordered_map<uint64_t, uint32_t> sparse_;
};

}  // namespace firetower::profile
