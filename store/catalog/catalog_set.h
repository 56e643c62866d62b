// SPDX-License-Identifier: Apache-2.0
// Writes all objects of one catalog: the rows of each shard, and, last, the list of their bundles.
// If the process is killed in between, queries can use the written shards, and the next keeper
// writes all of them again, under the same names where nothing changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/catalog/catalog_file.h"
#include "store/catalog/catalog_writer.h"
#include "store/catalog/interval.h"
#include "store/store.h"

namespace firetower::store {

// There is one shard up to some 50,000 rows, which is a megabyte or two.
inline constexpr uint64_t kRowsPerShard = 50'000;
uint32_t ShardsFor(uint64_t rows);

struct CatalogSet {
  CatalogInterval interval = {};
  bool late = false;
  uint32_t shards = 1;
  std::vector<Unreadable> unreadable = {};
};

// Writes the shards first, first + step, first + 2 step… of a set at once. Memory: their compressed
// rows.
class ShardWriters {
 public:
  // `replaces` applies to each of these shards.
  ShardWriters(const CatalogSet& set, uint32_t first, uint32_t step,
               std::vector<std::string> replaces);

  // Adds a row of these shards, in a catalog's order.
  void Add(const CatalogEntry& entry);
  // Writes them one after another.
  Status Store(ObjectStore& store) &&;

 private:
  const CatalogSet& set_;
  const uint32_t first_;
  const uint32_t step_;
  std::vector<CatalogWriter> writers_;
};

// Writes the list of a set's bundles: one line each, sorted, gzip'd.
Status StoreBundleList(ObjectStore& store, const CatalogInterval& interval,
                       std::vector<std::string> bundles);
// Adds the hashes (HashText) of the bundles in a list. kCorrupt: it is not such a list.
Status ReadBundleList(const ObjectStore& store, const std::string& key,
                      std::vector<uint64_t>& hashes);

// Returns at most CatalogHeader::kMaxUnreadable of them, sorted and unique.
std::vector<Unreadable> Bounded(std::vector<Unreadable> unreadable);

}  // namespace firetower::store
