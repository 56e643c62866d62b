// SPDX-License-Identifier: Apache-2.0
// Parses and formats durations and byte quantities in the forms that people use in flags, files and
// policies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower {

// Parses Go's duration syntax without signs ("1h30m", "1.5s", "250ms", "0"), and also `d` for 24
// hours. Returns nanoseconds. kInvalid names the mistake and shows an example.
Result<int64_t> ParseDurationNs(std::string_view text);

// Returns the shortest spelling that ParseDurationNs reads back: "14d", "1h30m", "0s".
std::string FormatDuration(int64_t ns);

// Parses a Kubernetes quantity of bytes: digits, at most nine decimals, then nothing or one of k M
// G T P (powers of 1000) or Ki Mi Gi Ti Pi (powers of 1024). Rounds a fraction of a byte up.
Result<int64_t> ParseBytes(std::string_view text);

// Formats with the largest binary suffix that divides evenly: "2Gi", "1536Ki", "1000".
std::string FormatBytes(int64_t bytes);

}  // namespace firetower
