// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/start_index.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// Answers which addresses have a name. Apart from the ranges, a sixth as large: it is asked in no
// order.
class NamedRanges {
 public:
  explicit NamedRanges(const std::vector<SymbolTable::Range>& ranges);

  // Whether all from `start` to `end`, exclusive, have one.
  bool Cover(uint32_t start, uint32_t end) const {
    const size_t index = starts_.FindAtOrBelow(start);
    if (index == StartIndex::kNone) return false;
    // Mostly by the range that begins there.
    return end <= ends_[index] || CoverTogether(index, start, end);
  }

 private:
  bool CoverTogether(size_t index, uint32_t start, uint32_t end) const;

  StartIndex starts_;
  std::vector<uint32_t> ends_;
};

// `ranges`, and in between, where they name nothing, what is there of `others`. All sorted and
// disjoint.
std::vector<SymbolTable::Range> FillGaps(const std::vector<SymbolTable::Range>& ranges,
                                         const std::vector<SymbolTable::Range>& others);

}  // namespace firetower::symbolizer
