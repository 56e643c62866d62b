// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/check.h"
#include "base/container/growing_array.h"

namespace firetower::profile {

// Many short arrays in one long array, each with a dense id; at most 2^32 items in total.
template <typename T>
class Pool {
 public:
  uint32_t size() const { return static_cast<uint32_t>(ends_.size()); }
  std::span<const T> Get(uint32_t id) const {
    size_t begin = id == 0 ? 0 : ends_[id - 1];
    return {items_.data() + begin, ends_[id] - begin};
  }
  // The memory held, for byte budgets.
  size_t bytes() const { return items_.bytes() + ends_.bytes(); }
  uint32_t Append(std::span<const T> items) {
    items_.append(items);
    CHECK(items_.size() <= std::numeric_limits<uint32_t>::max());
    ends_.push_back(static_cast<uint32_t>(items_.size()));
    return size() - 1;
  }
  void Reserve(size_t arrays, size_t items) {
    ends_.reserve(arrays);
    items_.reserve(items);
  }

 private:
  GrowingArray<T> items_;
  GrowingArray<uint32_t> ends_;
};

}  // namespace firetower::profile
