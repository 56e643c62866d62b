// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/start_index.h"

namespace firetower::symbolizer {

namespace {

constexpr size_t kStartsAStretch = 4;

}  // namespace

StartIndex::StartIndex(std::vector<uint32_t> starts) : starts_(std::move(starts)) {
  if (starts_.empty()) return;
  const size_t last = starts_.back();
  while (last >> stretch_bits_ > starts_.size() / kStartsAStretch) ++stretch_bits_;
  stretches_.resize((last >> stretch_bits_) + 2);
  size_t filled = 0;
  for (size_t i = 0; i < starts_.size(); ++i) {
    const size_t stretch = size_t{starts_[i]} >> stretch_bits_;
    while (filled <= stretch) stretches_[filled++] = static_cast<uint32_t>(i);
  }
  stretches_.back() = static_cast<uint32_t>(starts_.size());
}

}  // namespace firetower::symbolizer
