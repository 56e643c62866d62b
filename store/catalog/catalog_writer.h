// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "store/catalog/catalog_file.h"

namespace firetower::store {

// Writes a catalog of entries that come in order. Holds the compressed file, one block and eight
// bytes per pod. The same entries give the same bytes.
class CatalogWriter {
 public:
  // Sets `rows` and `last_end_s` of the header from the added entries.
  explicit CatalogWriter(CatalogHeader header) : header_(std::move(header)) {
    header_.rows = 0;
    header_.last_end_s = 0;
  }

  // Adds an entry. It must not come before the previous one (ComesBefore). Skips an exact
  // repetition.
  void Add(const CatalogEntry& entry);
  uint64_t rows() const { return header_.rows; }
  // Returns the file.
  std::string Finish() &&;

 private:
  void EndBlock();
  std::string PodFilter() const;

  CatalogHeader header_;
  std::string file_;
  std::string lines_;
  std::vector<CatalogFile::Block> blocks_;
  std::vector<uint64_t> pods_;  // hashes
  std::string last_place_;
  std::string last_line_;
};

// Encodes the entries, which may come in any order, as one catalog.
std::string EncodeCatalog(CatalogHeader header, std::vector<CatalogEntry> entries);

}  // namespace firetower::store
