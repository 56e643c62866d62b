// SPDX-License-Identifier: Apache-2.0
// Points in time and ranges as people and tools write them, for the HTTP API and the CLI alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace firetower::query {

// What "from" means when a question has none.
inline constexpr int64_t kDefaultSpanNs = 15 * 60 * kNsPerSecond;

// The half-open range [from_ns, to_ns) in nanoseconds since the Unix epoch.
struct TimeRange {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};

// Nanoseconds since the epoch from any of
//   2026-07-01T10:00:00Z, 2026-07-01T12:00:00.5+02:00   RFC 3339
//   1782900000, 1782900000000, …000000, …000000000      epoch: s to 11 digits, ms to 14, µs to 17
//   now, now-1h30m                                      the clock of whoever reads it
//   15m, 15m ago                                        that long before now
// kInvalid names the text and shows the forms.
Result<int64_t> ParseTime(std::string_view text, int64_t now_ns);

// Empty `from` is kDefaultSpanNs before `to`, empty `to` is now. A range that is empty or runs
// backwards is kInvalid.
Result<TimeRange> ParseTimeRange(std::string_view from, std::string_view to, int64_t now_ns);

// RFC 3339 in UTC, to the second, or to the millisecond when it has any.
std::string FormatTimeUtc(int64_t ns);

}  // namespace firetower::query
