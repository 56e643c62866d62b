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

// Merges several bundles of one node into one: profiles of the same container and type are merged,
// one container at a time, so that only one sum is in memory. A row's samples and value are those
// of the merged profiles. Unreadable profiles are skipped and reported; a container whose sum would
// be too large is omitted, so that its windows are used. The ids of
// traces and spans are left out, since nearly each sample has its own (Query::NeedsWindows).
// `start_s` is the time stamp of the entries.
Result<RolledUp> RollUp(const ObjectStore& store, std::span<const std::string> bundles,
                        int64_t start_s, const RollUpLimits& limits = {});

}  // namespace firetower::store
