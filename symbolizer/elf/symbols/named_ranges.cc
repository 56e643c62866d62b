// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/named_ranges.h"

#include <algorithm>

namespace firetower::symbolizer {

namespace {

using Range = SymbolTable::Range;

uint32_t EndOf(const Range& range) { return range.start + range.size_bytes; }

}  // namespace

NamedRanges::NamedRanges(const std::vector<Range>& ranges)
    : starts_(StartIndex::Of(ranges)), ends_(ranges.size()) {
  std::transform(ranges.begin(), ranges.end(), ends_.begin(), EndOf);
}

bool NamedRanges::CoverTogether(size_t index, uint32_t start, uint32_t end) const {
  // Ranges that touch follow one another.
  for (uint32_t at = start; index < ends_.size() && starts_.start(index) <= at; ++index) {
    if (ends_[index] <= at) return false;
    at = ends_[index];
    if (at >= end) return true;
  }
  return false;
}

std::vector<Range> FillGaps(const std::vector<Range>& ranges, const std::vector<Range>& others) {
  std::vector<Range> filled = ranges;
  auto next = ranges.begin();
  for (const Range& other : others) {
    const auto add = [&](uint32_t start, uint32_t end) {
      Range piece = other;
      piece.start = start;
      piece.size_bytes = end - start;
      if (end > start) filled.push_back(piece);
    };
    while (next != ranges.end() && EndOf(*next) <= other.start) ++next;
    uint32_t at = other.start;
    // The last one may reach into the next of `others`.
    for (auto over = next; over != ranges.end() && over->start < EndOf(other); ++over) {
      add(at, std::max(at, over->start));
      at = EndOf(*over);
    }
    add(at, std::max(at, EndOf(other)));
  }
  std::sort(filled.begin(), filled.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  return filled;
}

}  // namespace firetower::symbolizer
