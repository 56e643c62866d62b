// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/start_index.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// Tells which addresses have a name. Stored apart from the ranges and a sixth as large, because
// look-ups come in random order.
class NamedRanges {
 public:
  explicit NamedRanges(const std::vector<SymbolTable::Range>& ranges);

  // Tells whether all addresses from `start` to `end` (exclusive) have a name.
  bool Cover(uint32_t start, uint32_t end) const {
    const size_t index = starts_.FindAtOrBelow(start);
    if (index == StartIndex::kNone) return false;
    // Mostly the range that begins there covers them.
    return end <= ends_[index] || CoverTogether(index, start, end);
  }

 private:
  bool CoverTogether(size_t index, uint32_t start, uint32_t end) const;

  StartIndex starts_;
  std::vector<uint32_t> ends_;
};

// Merges `ranges` with the parts of `others` that lie in their gaps. Both must be sorted and
// disjoint.
std::vector<SymbolTable::Range> FillGaps(const std::vector<SymbolTable::Range>& ranges,
                                         const std::vector<SymbolTable::Range>& others);

}  // namespace firetower::symbolizer
