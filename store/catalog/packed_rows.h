// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/table/interner.h"
#include "store/catalog/catalog_line.h"

namespace firetower::store {

// Catalog entries in 56 bytes each, plus shared parts: a container has a row per minute, in which
// only the numbers differ.
class PackedRows {
 public:
  struct Row {
    uint32_t bundle = 0;     // a text
    uint32_t container = 0;  // texts that a container's rows share
    uint32_t rest = 0;       // what few rows have, see PackRest
    uint32_t crc32 = 0;
    uint32_t header_offset = 0;  // of a plain ZIP: 32 bits
    uint32_t end_offset = 0;
    uint32_t size = 0;
    uint32_t duration_ms = 0;
    int64_t start_ms = 0;
    int64_t samples = 0;
    int64_t value = 0;

    int64_t end_ms() const { return start_ms + duration_ms; }
  };
  using Rows = std::deque<Row>;  // does not keep twice its size when it grows

  Row Pack(const CatalogEntry& one);
  CatalogEntry Unpack(const Row& row) const;
  // Returns the shared part of a row, with all its texts.
  CatalogRow ContainerOf(const Row& row) const;

  uint32_t containers() const { return containers_.size(); }
  // Returns the indices of the rows, shard after shard, each in a catalog's order.
  std::vector<uint32_t> InOrder(const Rows& rows, uint32_t shards) const;
  // Adds `rows` of another object, and changes them to refer to this one.
  void Adopt(const PackedRows& from, Rows& rows);

  size_t bytes() const { return texts_.bytes() + containers_.bytes() + rests_.bytes(); }

 private:
  uint32_t Intern(std::string_view text);
  std::string Text(uint32_t id) const;
  uint32_t PackRest(const CatalogEntry& one);
  void UnpackRest(uint32_t rest, CatalogEntry& one) const;

  profile::Interner<char> texts_;  // see Shortened in packed_rows.cc
  profile::Interner<uint32_t> containers_;
  profile::Interner<uint32_t> rests_;
};

}  // namespace firetower::store
