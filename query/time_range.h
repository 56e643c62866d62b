// SPDX-License-Identifier: Apache-2.0
// Parses and formats points in time and ranges, for the HTTP API and the CLI.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace firetower::query {

// The length of a range without `from`.
inline constexpr int64_t kDefaultSpanNs = 15 * 60 * kNsPerSecond;

// The half-open range [from_ns, to_ns) in nanoseconds since the Unix epoch.
struct TimeRange {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};

// Parses a time into nanoseconds since the epoch. Accepts
//   2026-07-01T10:00:00Z, 2026-07-01T12:00:00.5+02:00   RFC 3339
//   1782900000, 1782900000000, …000000, …000000000      epoch: s to 11 digits, ms to 14, µs to 17
//   now, now-1h30m                                      the reader's clock
//   15m, 15m ago                                        that long before now
// kInvalid: the message names the text and lists the forms.
Result<int64_t> ParseTime(std::string_view text, int64_t now_ns);

// Parses a range. An empty `from` is kDefaultSpanNs before `to`; an empty `to` is now. kInvalid:
// the range is empty or runs backwards.
Result<TimeRange> ParseTimeRange(std::string_view from, std::string_view to, int64_t now_ns);

// Formats a time as RFC 3339 in UTC, to the second, or to the millisecond when it has any.
std::string FormatTimeUtc(int64_t ns);

}  // namespace firetower::query
