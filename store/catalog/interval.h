// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>

#include "store/key.h"

namespace firetower::store {

// The bundles that share one catalog, before those of an hour are merged: windows by the five
// minutes in which they begin, roll-ups by their own length.
inline constexpr int64_t kWindowsSeconds = 300;
inline constexpr int64_t kShortRollUpSeconds = 600;
inline constexpr int64_t kHourSeconds = 3600;

struct CatalogInterval {
  RetentionClass retention = RetentionClass::kStandard;
  std::string cluster = {};
  int64_t start_s = 0;
  int64_t seconds = 0;  // kWindowsSeconds: windows; else roll-ups of that length

  int64_t end_s() const { return start_s + seconds; }
  auto operator<=>(const CatalogInterval&) const = default;
};

inline int64_t HourOf(int64_t unix_s) { return unix_s - unix_s % kHourSeconds; }

inline CatalogInterval IntervalOf(const BundleKey& key) {
  const int64_t seconds = key.rolled_up ? std::max<int64_t>(key.seconds, 1) : kWindowsSeconds;
  return {key.retention, key.cluster, key.start_s - key.start_s % seconds, seconds};
}

}  // namespace firetower::store
