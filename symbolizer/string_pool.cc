// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/string_pool.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <utility>

namespace firetower::symbolizer {

namespace {

constexpr size_t kFirstSlots = 256;  // a power of two, as every later size

}  // namespace

StringPool::StringPool(size_t max_bytes, size_t names)
    : max_bytes_(std::min<size_t>(max_bytes, std::numeric_limits<uint32_t>::max() - 1)),
      slots_(std::max(kFirstSlots, std::bit_ceil(2 * names + 1))) {}

std::optional<uint32_t> StringPool::Add(std::string_view name) {
  name = name.substr(0, name.find('\0'));
  size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>{}(name)&mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    uint32_t offset = slots_[slot] - 1;
    if (Get(offset) == name) return offset;
  }
  if (name.size() >= max_bytes_ || blob_.size() > max_bytes_ - name.size() - 1) return std::nullopt;
  auto offset = static_cast<uint32_t>(blob_.size());
  blob_.append(name);
  blob_.push_back('\0');
  slots_[slot] = offset + 1;
  if (++used_ * 2 > slots_.size()) Grow();
  return offset;
}

void StringPool::Grow() {
  std::vector<uint32_t> old = std::exchange(slots_, std::vector<uint32_t>(slots_.size() * 2));
  size_t mask = slots_.size() - 1;
  for (uint32_t entry : old) {
    if (entry == 0) continue;
    size_t slot = std::hash<std::string_view>{}(Get(entry - 1)) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = entry;
  }
}

std::string StringPool::Take() {
  slots_.assign(kFirstSlots, 0);
  slots_.shrink_to_fit();
  used_ = 0;
  blob_.shrink_to_fit();
  return std::exchange(blob_, {});
}

}  // namespace firetower::symbolizer
