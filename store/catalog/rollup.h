// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "store/query.h"
#include "store/store.h"

namespace firetower::store {

struct RollUpLimits {
  uint64_t max_profile_bytes = uint64_t{64} << 20;  // memory of one container's sum
};

struct RolledUp {
  std::string bytes = {};  // a bundle; empty when there was nothing
  uint64_t profiles = 0;   // that went in
  SkippedList skipped = {};
};

// One bundle of several of one node: what is of the same container and type is merged, one
// container at a time, so that no more than one sum is held. A row's samples and value are
// those of the profiles that went in; what could not be read is skipped and named, and a container
// whose sum would be too large is left out, so that its windows stand for themselves.
// `start_s`: the time stamp of the entries.
Result<RolledUp> RollUp(const ObjectStore& store, std::span<const std::string> bundles,
                        int64_t start_s, const RollUpLimits& limits = {});

}  // namespace firetower::store
