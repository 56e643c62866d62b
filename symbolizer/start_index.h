// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace firetower::symbolizer {

// Sorted starts of ranges, with a table of a quarter as many entries, so that a search compares a
// few neighbours instead of all starts.
class StartIndex {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // Expects rising `starts`.
  explicit StartIndex(std::vector<uint32_t> starts);
  // Makes an index from the starts of sorted ranges.
  template <typename Range>
  static StartIndex Of(const std::vector<Range>& ranges) {
    std::vector<uint32_t> starts(ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i) starts[i] = ranges[i].start;
    return StartIndex(std::move(starts));
  }

  size_t size() const { return starts_.size(); }
  uint32_t start(size_t index) const { return starts_[index]; }
  // Returns the index of the last start at or below `value`, or kNone.
  size_t FindAtOrBelow(uint32_t value) const {
    if (starts_.empty()) return kNone;
    // Every value behind the last start belongs to the last stretch.
    const size_t stretch = std::min(size_t{value} >> stretch_bits_, stretches_.size() - 2);
    const uint32_t* first = starts_.data() + stretches_[stretch];
    const uint32_t* last = starts_.data() + stretches_[stretch + 1];
    const uint32_t* above = std::upper_bound(first, last, value);
    return above == starts_.data() ? kNone : static_cast<size_t>(above - starts_.data()) - 1;
  }
  // The size on the heap.
  size_t bytes() const { return (starts_.capacity() + stretches_.capacity()) * sizeof(uint32_t); }

 private:
  std::vector<uint32_t> starts_;
  // The index of the first start at or behind each stretch of 2^stretch_bits_ values, and one final
  // entry.
  std::vector<uint32_t> stretches_;
  unsigned stretch_bits_ = 0;
};

}  // namespace firetower::symbolizer
