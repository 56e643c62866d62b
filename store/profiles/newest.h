// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/catalog.h"
#include "store/query.h"

namespace firetower::store {

struct ListedProfile {
  std::string id = {};  // StoredProfileId::ToString(); "": an open window, not stored yet
  uint64_t bytes = 0;   // as it is stored; 0: not yet
  CatalogRow row = {};
};

struct NewestProfiles {
  // Newest first, then by namespace, pod, container, type, id.
  std::vector<ListedProfile> profiles = {};
  uint64_t total = 0;  // that match
  SkippedList skipped = {};
};

// Returns the newest `most` profiles of the answer, each by itself; the others are counted, and not
// held in memory where bundles are listed. An index may hold all matching ones while it searches,
// as CatalogIndex does, up to limits.max_rows. Fails as ListProfiles does.
Result<NewestProfiles> ListNewest(const ProfileSource& source, const Query& query, size_t most,
                                  std::span<const OpenProfile> open = {},
                                  const QueryLimits& limits = {});

}  // namespace firetower::store
