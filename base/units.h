// SPDX-License-Identifier: Apache-2.0
// Durations and byte quantities as people write them in flags, files and policies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firetower {

// Go's duration syntax without signs ("1h30m", "1.5s", "250ms", "0"), with `d` for 24 hours
// besides. Nanoseconds; kInvalid names what is wrong and shows an example.
Result<int64_t> ParseDurationNs(std::string_view text);

// The shortest spelling that ParseDurationNs reads back: "14d", "1h30m", "0s".
std::string FormatDuration(int64_t ns);

// A Kubernetes quantity of bytes: digits, at most nine decimals, then nothing or one of
// k M G T P (powers of 1000) or Ki Mi Gi Ti Pi (of 1024). A fraction of a byte is rounded up.
Result<int64_t> ParseBytes(std::string_view text);

// With the largest binary suffix that divides evenly: "2Gi", "1536Ki", "1000".
std::string FormatBytes(int64_t bytes);

}  // namespace firetower
