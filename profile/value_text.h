// SPDX-License-Identifier: Apache-2.0
// Formats the values of profiles for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace firetower::profile {

// Returns "12.3s", "4.0 MiB" or "1,234", for pprof's units nanoseconds, bytes and any other.
std::string FormatValue(double value, std::string_view unit);
// Returns "1,234".
std::string FormatCount(int64_t count);

}  // namespace firetower::profile
