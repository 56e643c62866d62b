// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "store/catalog/catalog_cache.h"
#include "store/catalog/recent_rows.h"
#include "store/query.h"
#include "store/retention.h"
#include "store/store.h"

namespace firetower::store {

struct CatalogIndexOptions {
  size_t max_cached_bytes = size_t{32} << 20;
  // Bound for a time that has neither a catalog nor recent rows; above it an error names the time.
  uint64_t max_listed_bundles = 20'000;
  // Its key component. Unset: the profiles of all clusters in the store answer.
  std::optional<std::string> cluster = {};
  // Age limits. Older profiles are in no answer, because catalogs outlive their data by a day. The
  // age counts from the earlier of the local and the store's clock, as in the sweep.
  RetentionPolicy retention = {.short_seconds = 0, .standard_seconds = 0, .long_seconds = 0};
  const Clock* clock = &Clock::System();
};

// Finds profiles by the catalogs, by the rows in memory of what has none yet, and where there is
// neither by the bundles themselves. A catalog that is damaged is named among what was skipped, and
// its time is read from the bundles. Any thread.
class CatalogIndex {
 public:
  // `recent`: null where nobody fills it. Both outlive this.
  explicit CatalogIndex(const ObjectStore& store, const RecentRows* recent = nullptr,
                        const CatalogIndexOptions& options = {})
      : store_(store), recent_(recent), options_(options), cache_(options.max_cached_bytes) {}

  // Calls `visit` for each stored profile of the answer until one fails; what cannot be read goes
  // to `skipped`. The time range is not empty. kExhausted past limits.max_rows.
  Status Find(const Query& query, const QueryLimits& limits, Resolution resolution,
              SkippedList* skipped, const VisitFound& visit) const;
  // The one whose profiles it finds, its key component; unset: those of all clusters in the store.
  std::optional<std::string> cluster() const { return options_.cluster; }

 private:
  const ObjectStore& store_;
  const RecentRows* recent_;
  const CatalogIndexOptions options_;
  mutable CatalogCache cache_;
};

}  // namespace firetower::store
