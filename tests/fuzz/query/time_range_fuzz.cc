// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "query/time_range.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace query = firetower::query;
  constexpr int64_t kNowNs = 1782900000 * firetower::kNsPerSecond;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto time = query::ParseTime(text, kNowNs);
  // A printed time is read back, to the millisecond.
  if (time && *time >= 0) {
    auto again = query::ParseTime(query::FormatTimeUtc(*time), kNowNs);
    bool printable = *time < 9'200'000'000 * firetower::kNsPerSecond;
    if (printable && (!again || *again / firetower::kNsPerMs != *time / firetower::kNsPerMs)) {
      std::abort();
    }
  }
  size_t half = text.size() / 2;
  auto range = query::ParseTimeRange(text.substr(0, half), text.substr(half), kNowNs);
  if (range && range->from_ns >= range->to_ns) std::abort();
  return 0;
}
