// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/catalog/catalog_listing.h"
#include "store/catalog/interval.h"
#include "store/catalog/recent_rows.h"
#include "store/store.h"

namespace firetower::store {

// What was done since the start.
struct KeeperFigures {
  uint64_t bundles_read = 0;
  uint64_t unreadable_bundles = 0;
  uint64_t catalogs_written = 0;  // sets
  uint64_t hours_merged = 0;
  uint64_t catalogs_deleted = 0;  // objects, that others replace
  uint64_t damaged_catalogs = 0;
};

// Hashes of the bundles that lists name, sorted.
class KnownBundles {
 public:
  void Add(std::vector<uint64_t> hashes);
  bool Holds(std::string_view bundle) const;
  bool HoldsAll(std::span<const std::string> bundles) const;

 private:
  std::vector<uint64_t> hashes_;
};

// Takes the bundles of an interval into memory, and from there into a catalog.
class IntervalKeeper {
 public:
  IntervalKeeper(ObjectStore& store, RecentRows& recent, KeeperFigures& figures)
      : store_(store), recent_(recent), figures_(figures) {}

  // Of what the lists among `catalogs` name. A damaged list counts for none.
  Result<KnownBundles> ReadKnown(std::span<const ListedCatalog> catalogs);
  // Lists the interval's bundles and reads the directories of those neither known nor in memory.
  // When the memory is full and `may_write`, the interval with the most rows goes into a catalog of
  // its own before its time; kExhausted otherwise.
  Status ReadNew(const CatalogInterval& interval, const KnownBundles& known, bool may_write);
  // Writes the catalog of what is in memory of the interval, if anything is, and drops it there.
  Status Write(const CatalogInterval& interval, bool late);

 private:
  Status ReadBundle(const ObjectInfo& info, bool may_write);
  Status MakeRoom();

  ObjectStore& store_;
  RecentRows& recent_;
  KeeperFigures& figures_;
};

}  // namespace firetower::store
