// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/id_map.h"

namespace firetower::profile {

bool IdMap::AddOutOfOrder(uint64_t id, uint32_t index) {
  if (id == 0 || Find(id) != kNone) return false;
  if (id > kMaxDense) return sparse_.emplace(id, index).second;
  if (id > dense_.size()) dense_.resize(id, kNone);
  if (id == dense_.size()) {
    dense_.push_back(index);
  } else {
    dense_[id] = index;
  }
  return true;
}

}  // namespace firetower::profile
