// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
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

// The rows of bundles that no catalog holds yet, in memory: at most `max_rows` of them, some 100
// bytes each. One thread adds and drops, any thread asks.
class RecentRows {
 public:
  // Two times what 5,000 nodes of 30 containers have in the ten minutes until a catalog is written.
  static constexpr size_t kMaxRows = 2'000'000;

  explicit RecentRows(size_t max_rows = kMaxRows) : max_rows_(max_rows) {}

  // kExhausted when there is no room for all of it: nothing was taken. kInvalid when `bundle` is no
  // bundle's key. One that is held is not taken again.
  Status Add(const std::string& bundle, const BundleIndex& index);
  // Instead of Add where its directory cannot be read.
  Status AddUnreadable(const std::string& bundle, const std::string& reason);
  bool Knows(const std::string& bundle) const;

  // Whether every bundle of the interval that was listed is in here, or in a catalog.
  void MarkWhole(const CatalogInterval& interval, bool whole);
  // And forgets what was marked before that time.
  void ForgetMarks(int64_t before_s);
  std::vector<CatalogInterval> WholeIntervals() const;

  // With rows, or with what could not be read.
  std::vector<CatalogInterval> Intervals() const;
  size_t RowsOf(const CatalogInterval& interval) const;
  std::vector<std::string> BundlesOf(const CatalogInterval& interval) const;  // sorted
  std::vector<Unreadable> UnreadableOf(const CatalogInterval& interval) const;
  // Calls `visit` for each row, shard after shard, each in a catalog's order, until one fails; it
  // must not call what changes this.
  Status ForEachInOrder(const CatalogInterval& interval, uint32_t shards,
                        const std::function<Status(const CatalogEntry& entry)>& visit) const;
  void Drop(const CatalogInterval& interval);

  // Calls `visit` for each row that is asked for (IsAsked), `unreadable` for what belongs to the
  // time and could not be read; until one fails.
  Status Find(const Query& query, const std::function<Status(const CatalogEntry& entry)>& visit,
              const std::function<void(const Unreadable& one)>& unreadable) const;

  size_t rows() const;
  size_t bytes() const;

 private:
  struct Held {
    PackedRows::Rows rows = {};
    std::set<std::string> bundles = {};
    std::vector<Unreadable> unreadable = {};
  };

  Held* HeldOf(const std::string& bundle);
  void Compact();

  const size_t max_rows_;
  // Questions read while the hub's own thread adds some bundles a second.
  mutable std::shared_mutex mutex_;
  PackedRows packed_;
  std::map<CatalogInterval, Held> held_;
  std::set<CatalogInterval> whole_;
  size_t rows_ = 0;
  size_t dropped_rows_ = 0;  // since the last Compact
};

}  // namespace firetower::store
