// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/catalog/catalog_file.h"
#include "store/key.h"
#include "store/store.h"

namespace firetower::store {

struct ListedCatalog {
  std::string key = {};
  uint64_t size = 0;
  CatalogKey parsed = {};
};

// The catalogs of one class and cluster in a store.
class CatalogListing {
 public:
  // Lists the catalogs that start in the hours of [from_s, to_s).
  static Result<CatalogListing> Read(const ObjectStore& store, RetentionClass retention,
                                     const std::string& cluster, int64_t from_s, int64_t to_s);

  const std::vector<ListedCatalog>& all() const { return all_; }  // by start
  // Of one interval; of one hour.
  std::span<const ListedCatalog> Of(int64_t start_s, int64_t seconds) const;
  std::span<const ListedCatalog> OfHour(int64_t hour_s) const;

 private:
  std::vector<ListedCatalog> all_;  // by start, seconds and key
};

// Tells whether these catalogs of one interval contain rows of every shard, or of the one for the
// hash: the set was completely written.
bool HasAllRows(std::span<const ListedCatalog> catalogs, std::optional<uint64_t> shard_hash = {});
bool HasBundleList(std::span<const ListedCatalog> catalogs);
// Tells whether a catalog holds rows of an interval, late ones included.
bool HoldsRows(const ListedCatalog& catalog);
size_t CountOfRows(std::span<const ListedCatalog> catalogs);

// Record of the catalogs that others replace. A shard of n is replaced by two shards of 2n
// together.
class Replacements {
 public:
  void Add(const CatalogHeader& header);
  // Tells whether all its rows, or those of its shard with that hash, are in other catalogs.
  bool Covers(const ListedCatalog& catalog, std::optional<uint64_t> shard_hash = {}) const;

 private:
  using ShardOfShards = std::pair<uint32_t, uint32_t>;  // number of shards, shard
  std::map<std::string, std::vector<ShardOfShards>, std::less<>> by_;
};

}  // namespace firetower::store
