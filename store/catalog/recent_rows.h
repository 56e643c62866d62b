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
  // A row takes about 100 bytes; rows of unusual containers with many build ids take twice as much.
  size_t max_bytes = size_t{128} << 20;
};

// The rows, in memory, of bundles that no catalog holds yet. 5,000 nodes with 30 containers have
// 1.5 million in the ten minutes until a catalog is written. One thread adds and drops, any thread
// queries.
class RecentRows {
 public:
  explicit RecentRows(const RecentRowsLimits& limits = {}) : limits_(limits) {}

  // Adds a bundle unless it is known. kExhausted: there is no room for all of it, and nothing was
  // added. kInvalid: `bundle` is not a bundle's key.
  Status Add(const std::string& bundle, const BundleIndex& index);
  // Replaces Add for a bundle whose directory cannot be read.
  Status AddUnreadable(const std::string& bundle, const std::string& reason);
  // Increases with each bundle.
  uint64_t added() const;
  // Tells whether the interval has this bundle, added when added() was at most `upto`.
  bool Knows(const CatalogInterval& interval, const std::string& bundle,
             uint64_t upto = UINT64_MAX) const;

  // Sets whether every listed bundle of the interval is in here or in its catalogs, which have so
  // many objects with rows. The mark is valid as long as these exist.
  void MarkWhole(const CatalogInterval& interval, bool whole, size_t catalogs);
  // Drops marks of intervals before that time.
  void ForgetMarks(int64_t before_s);
  // Drops all marks of a cluster, because it could not be listed for long.
  void ForgetMarksOf(RetentionClass retention, const std::string& cluster);
  // Returns the marked intervals with the number of objects with rows that each depends on.
  std::map<CatalogInterval, size_t> WholeIntervals() const;

  // Returns the intervals with rows or unreadable bundles.
  std::vector<CatalogInterval> Intervals() const;
  size_t RowsOf(const CatalogInterval& interval) const;
  std::vector<std::string> BundlesOf(const CatalogInterval& interval) const;  // sorted
  std::vector<Unreadable> UnreadableOf(const CatalogInterval& interval) const;
  // Calls `visit` for each row, shard after shard, each in a catalog's order, until one fails.
  // `visit` must not call functions that change this object.
  Status ForEachInOrder(const CatalogInterval& interval, uint32_t shards,
                        const std::function<Status(const CatalogEntry& entry)>& visit) const;
  // Drops the rows, which `catalogs` more objects hold now: a mark depends on these too.
  void Drop(const CatalogInterval& interval, size_t catalogs = 0);

  // Calls `visit` for each row that matches (IsAsked), and `unreadable` for unreadable bundles in
  // the time range, until one fails.
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
  // Queries read while the hub's own thread adds some bundles per second.
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
