// SPDX-License-Identifier: Apache-2.0
// Writing of all that belongs to one catalog: the rows of each shard, and, last, which bundles they
// are of. A process that is killed in between leaves shards that questions can use, and who comes
// after it writes all of them again, under the same names where nothing changed.
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

// One shard below some 50,000 rows: a megabyte or two.
inline constexpr uint64_t kRowsPerShard = 50'000;
uint32_t ShardsFor(uint64_t rows);

struct CatalogSet {
  CatalogInterval interval = {};
  bool late = false;
  uint32_t shards = 1;
  std::vector<Unreadable> unreadable = {};
};

// The shards first, first + step, first + 2 step… of a set, at once: memory is that of their
// compressed rows.
class ShardWriters {
 public:
  // `replaces`: of each of these shards.
  ShardWriters(const CatalogSet& set, uint32_t first, uint32_t step,
               std::vector<std::string> replaces);

  // In a catalog's order, rows of these shards.
  void Add(const CatalogEntry& entry);
  // One after another.
  Status Store(ObjectStore& store) &&;

 private:
  const CatalogSet& set_;
  const uint32_t first_;
  const uint32_t step_;
  std::vector<CatalogWriter> writers_;
};

// Writes the list of a set's bundles: a line each, sorted, gzip'd.
Status StoreBundleList(ObjectStore& store, const CatalogInterval& interval,
                       std::vector<std::string> bundles);
// Adds the hashes (HashText) of those a list names; kCorrupt for what is no such list.
Status ReadBundleList(const ObjectStore& store, const std::string& key,
                      std::vector<uint64_t>& hashes);

// At most CatalogHeader::kMaxUnreadable of them, sorted, each once.
std::vector<Unreadable> Bounded(std::vector<Unreadable> unreadable);

}  // namespace firetower::store
