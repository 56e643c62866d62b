// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/catalog/catalog_file.h"
#include "store/catalog/catalog_listing.h"
#include "store/store.h"

namespace firetower::store {

// Reads a catalog's rows in order. Holds half a megabyte of it and the rows of one block.
class CatalogCursor {
 public:
  // Reads the rows of `shard` of `shards`.
  CatalogCursor(const ObjectStore& store, const ListedCatalog& catalog, const CatalogFile& file,
                uint32_t shard, uint32_t shards)
      : store_(store), catalog_(catalog), file_(file), shard_(shard), shards_(shards) {}

  // Moves to the next row; false at the end. kCorrupt also when it is out of order.
  Result<bool> Next();
  // The current row.
  const CatalogEntry& entry() const { return rows_[at_].entry; }
  // Orders two cursors by their current rows.
  bool IsBefore(const CatalogCursor& other) const;
  const std::string& key() const { return catalog_.key; }

 private:
  struct Placed {
    std::string place = {};  // PlaceOf
    CatalogEntry entry = {};
  };

  static bool IsBefore(const Placed& a, const Placed& b);
  Status ReadBlock();

  const ObjectStore& store_;
  const ListedCatalog& catalog_;
  const CatalogFile& file_;
  const uint32_t shard_;
  const uint32_t shards_;
  size_t next_block_ = 0;
  std::string packed_;  // read ahead, from packed_offset_ on
  uint64_t packed_offset_ = 0;
  std::vector<Placed> rows_;  // of one block
  size_t at_ = 0;
  bool begun_ = false;
};

}  // namespace firetower::store
