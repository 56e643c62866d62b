// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/pprof/location_order.h"

#include <algorithm>
#include <numeric>

namespace firetower::profile {

std::vector<uint32_t> LocationOrder(const Profile& profile) {
  std::vector<uint32_t> uses(profile.location_count());
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    for (const uint32_t location : profile.sample(i).locations) ++uses[location];
  }
  std::vector<uint32_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto is_used_more = [&](uint32_t a, uint32_t b) {
    return uses[a] != uses[b] ? uses[a] > uses[b] : a < b;
  };
  // Ids end where another byte of the varint begins; the last bytes, of the rest, need no sorting.
  size_t begin = 0;
  for (const size_t last_id : {size_t{127}, size_t{16'383}}) {
    if (order.size() <= last_id) break;
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(last_id);
    std::nth_element(first, end, order.end(), is_used_more);
    std::sort(first, end);
    begin = last_id;
  }
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin), order.end());
  return order;
}

}  // namespace firetower::profile
