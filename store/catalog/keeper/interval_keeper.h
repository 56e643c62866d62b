// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/catalog/catalog_listing.h"
#include "store/catalog/interval.h"
#include "store/catalog/keeper/directory_reader.h"
#include "store/catalog/recent_rows.h"
#include "store/store.h"
#include "store/walk.h"

namespace firetower::store {

// Counts since the start.
struct KeeperFigures {
  uint64_t bundles_read = 0;
  uint64_t unreadable_bundles = 0;
  std::string last_unreadable = {};  // "KEY: why"
  uint64_t catalogs_written = 0;     // sets
  uint64_t hours_merged = 0;
  uint64_t catalogs_deleted = 0;  // objects, that others replace
  uint64_t damaged_catalogs = 0;
};

// The sorted hashes of the bundles in lists.
class KnownBundles {
 public:
  void Add(std::vector<uint64_t> hashes);
  bool Holds(std::string_view bundle) const;
  bool HoldsAll(std::span<const std::string> bundles) const;

 private:
  std::vector<uint64_t> hashes_;
};

// Reads bundles into memory, and writes the catalogs of their intervals from there.
class IntervalKeeper {
 public:
  IntervalKeeper(ObjectStore& store, RecentRows& recent, KeeperFigures& figures)
      : store_(store), recent_(recent), figures_(figures), directories_(store) {}

  // Reads the bundle lists among `catalogs`. A damaged list counts as missing.
  Result<KnownBundles> ReadKnown(std::span<const ListedCatalog> catalogs);
  // Returns the start of the first bundle of `kind` that begins in [from_s, to_s), in Unix seconds.
  Result<std::optional<int64_t>> FirstStart(const StoredCluster& at, int64_t kind, int64_t from_s,
                                            int64_t to_s) const;
  // Lists the bundles of `kind` (the length of its intervals) that begin in [from_s, to_s). Reads
  // the directories of those in `wanted` intervals that are neither known nor in memory, several at
  // a time, and takes them in the listing's order up to the first failure. When the memory is full
  // and `may_write`, the interval with the most rows gets a catalog of its own early; otherwise
  // kExhausted.
  Status ReadNew(const StoredCluster& at, int64_t kind, int64_t from_s, int64_t to_s,
                 const std::function<bool(const CatalogInterval& interval)>& wanted,
                 const KnownBundles& known, bool may_write);
  // Writes the catalog of the interval's rows in memory, if any, and drops them.
  Status Write(const CatalogInterval& interval, bool late);

 private:
  // Takes the first requested directory.
  Status AddNext(bool may_write);
  Status Add(const DirectoryReader::Directory& read, bool may_write);
  Status MakeRoom();

  ObjectStore& store_;
  RecentRows& recent_;
  KeeperFigures& figures_;
  DirectoryReader directories_;  // empty between two calls
};

}  // namespace firetower::store
