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
  // The limit for a time range without catalogs and recent rows. Above it the query fails, and the
  // error names the range.
  uint64_t max_listed_bundles = 20'000;
  // A component of keys. Unset: queries cover the profiles of all clusters in the store.
  std::optional<std::string> cluster = {};
  // The age limits. Older profiles are in no answer, because catalogs outlive their data by a day.
  // The age counts from the earlier of the local and the store's clock, as in the sweep.
  RetentionPolicy retention = {.short_seconds = 0, .standard_seconds = 0, .long_seconds = 0};
  const Clock* clock = &Clock::System();
};

// Finds profiles by the catalogs, by recent rows in memory, and where there is neither by the
// bundles themselves. A damaged catalog is reported as skipped, and its time range is read from the
// bundles. Any thread.
class CatalogIndex {
 public:
  // `recent` is null if nobody fills it. Both must outlive this.
  explicit CatalogIndex(const ObjectStore& store, const RecentRows* recent = nullptr,
                        const CatalogIndexOptions& options = {})
      : store_(store), recent_(recent), options_(options), cache_(options.max_cached_bytes) {}

  // Calls `visit` for each stored profile of the answer until one fails; unreadable ones go to
  // `skipped`. The time range is not empty. kExhausted: past limits.max_rows.
  Status Find(const Query& query, const QueryLimits& limits, Resolution resolution,
              SkippedList* skipped, const VisitFound& visit) const;
  // The cluster whose profiles it finds (a component of keys); unset: all clusters in the store.
  std::optional<std::string> cluster() const { return options_.cluster; }

 private:
  const ObjectStore& store_;
  const RecentRows* recent_;
  const CatalogIndexOptions options_;
  mutable CatalogCache cache_;
};

}  // namespace firetower::store
