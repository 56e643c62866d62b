// SPDX-License-Identifier: Apache-2.0
#include "store/profiles/observed_time.h"

#include <algorithm>

#include "base/clock.h"

namespace firetower::store {
namespace {

constexpr int64_t kMaxStartDelayNs = 500 * kNsPerMs;

}  // namespace

int64_t ObservedTime::Ns() && {
  Intervals all;
  for (auto& [node, intervals] : of_nodes_) {
    std::ranges::sort(intervals);
    int64_t last_end = 0;
    for (auto [begin, end] : intervals) {
      const bool follows = begin > last_end && begin - last_end <= kMaxStartDelayNs;
      all.emplace_back(follows ? last_end : begin, end);
      last_end = std::max(last_end, end);
    }
  }
  std::ranges::sort(all);
  int64_t length = 0;
  int64_t upto = 0;
  for (auto [begin, end] : all) {
    begin = std::max(begin, upto);
    if (end <= begin) continue;
    length += end - begin;
    upto = end;
  }
  return length;
}

}  // namespace firetower::store
