// SPDX-License-Identifier: Apache-2.0
// Values of profiles as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace firetower::profile {

// "12.3s", "4.0 MiB" or "1,234", by the unit that pprof calls nanoseconds, bytes or anything else.
std::string FormatValue(double value, std::string_view unit);
// "1,234"
std::string FormatCount(int64_t count);

}  // namespace firetower::profile
