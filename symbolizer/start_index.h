// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace firetower::symbolizer {

// Sorted starts of ranges, and a quarter as many places in between: a search looks at a few
// neighbours instead of all.
class StartIndex {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // `starts` rise.
  explicit StartIndex(std::vector<uint32_t> starts);
  // The starts of sorted ranges.
  template <typename Range>
  static StartIndex Of(const std::vector<Range>& ranges) {
    std::vector<uint32_t> starts(ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i) starts[i] = ranges[i].start;
    return StartIndex(std::move(starts));
  }

  size_t size() const { return starts_.size(); }
  uint32_t start(size_t index) const { return starts_[index]; }
  // The last start at or below `value`, or kNone.
  size_t FindAtOrBelow(uint32_t value) const {
    if (starts_.empty()) return kNone;
    // Behind the last start there is the last range only.
    const size_t stretch = std::min(size_t{value} >> stretch_bits_, stretches_.size() - 2);
    const uint32_t* first = starts_.data() + stretches_[stretch];
    const uint32_t* last = starts_.data() + stretches_[stretch + 1];
    const uint32_t* above = std::upper_bound(first, last, value);
    return above == starts_.data() ? kNone : static_cast<size_t>(above - starts_.data()) - 1;
  }
  // On the heap.
  size_t bytes() const { return (starts_.capacity() + stretches_.capacity()) * sizeof(uint32_t); }

 private:
  std::vector<uint32_t> starts_;
  // Of each stretch of 2^stretch_bits_ values, the first start in it or behind it, and one more.
  std::vector<uint32_t> stretches_;
  unsigned stretch_bits_ = 0;
};

}  // namespace firetower::symbolizer
