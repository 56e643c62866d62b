// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/catalog/catalog_file.h"
#include "store/catalog/interval.h"
#include "store/catalog/packed_rows.h"
#include "store/query.h"

namespace firetower::store {

struct RecentRowsLimits {
  size_t max_rows = 2'000'000;
  // A row has some 100; of containers that nothing is like, with many build ids, twice as many.
  size_t max_bytes = size_t{128} << 20;
};

// The rows of bundles that no catalog holds yet, in memory. 5,000 nodes of 30 containers have 1.5
// million in the ten minutes until a catalog is written. One thread adds and drops, any thread
// asks.
class RecentRows {
 public:
  explicit RecentRows(const RecentRowsLimits& limits = {}) : limits_(limits) {}

  // kExhausted when there is no room for all of it: nothing was taken. kInvalid when `bundle` is no
  // bundle's key. One that is held is not taken again.
  Status Add(const std::string& bundle, const BundleIndex& index);
  // Instead of Add where its directory cannot be read.
  Status AddUnreadable(const std::string& bundle, const std::string& reason);
  // Rises with each bundle.
  uint64_t added() const;
  // A bundle of that interval, which was there when added() was at most `upto`.
  bool Knows(const CatalogInterval& interval, const std::string& bundle,
             uint64_t upto = UINT64_MAX) const;

  // Whether every bundle of the interval that was listed is in here, or in its catalogs, of which
  // so many objects hold rows: as long as they are there.
  void MarkWhole(const CatalogInterval& interval, bool whole, size_t catalogs);
  // And forgets what was marked before that time.
  void ForgetMarks(int64_t before_s);
  // All of them: nobody has been able to look for long.
  void ForgetMarksOf(RetentionClass retention, const std::string& cluster);
  // With the number of objects with rows that each rests on.
  std::map<CatalogInterval, size_t> WholeIntervals() const;

  // With rows, or with what could not be read.
  std::vector<CatalogInterval> Intervals() const;
  size_t RowsOf(const CatalogInterval& interval) const;
  std::vector<std::string> BundlesOf(const CatalogInterval& interval) const;  // sorted
  std::vector<Unreadable> UnreadableOf(const CatalogInterval& interval) const;
  // Calls `visit` for each row, shard after shard, each in a catalog's order, until one fails; it
  // must not call what changes this.
  Status ForEachInOrder(const CatalogInterval& interval, uint32_t shards,
                        const std::function<Status(const CatalogEntry& entry)>& visit) const;
  // `catalogs` objects more hold its rows now: a mark rests on these too.
  void Drop(const CatalogInterval& interval, size_t catalogs = 0);

  // Calls `visit` for each row that is asked for (IsAsked), `unreadable` for what belongs to the
  // time and could not be read; until one fails.
  Status Find(const Query& query, const std::function<Status(const CatalogEntry& entry)>& visit,
              const std::function<void(const Unreadable& one)>& unreadable) const;

  size_t rows() const;
  size_t bytes() const;

 private:
  struct Held {
    PackedRows::Rows rows = {};
    std::map<std::string, uint64_t> bundles = {};  // with added()
    std::vector<Unreadable> unreadable = {};
  };

  Held* HeldOf(const std::string& bundle);
  void Compact();
  size_t Bytes() const;

  const RecentRowsLimits limits_;
  // Questions read while the hub's own thread adds some bundles a second.
  mutable std::shared_mutex mutex_;
  PackedRows packed_;
  std::map<CatalogInterval, Held> held_;
  std::map<CatalogInterval, size_t> whole_;
  uint64_t added_ = 0;
  size_t rows_ = 0;
  size_t bundle_bytes_ = 0;  // of their names
  size_t dropped_rows_ = 0;  // since the last Compact
};

}  // namespace firetower::store
