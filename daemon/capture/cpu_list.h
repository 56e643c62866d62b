// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::daemon {

// Parses the kernel's CPU list form, "0-3,8" (Documentation/admin-guide/cputopology.rst), sorted
// and without repeats. An empty list is allowed; numbers end at 8191 (CONFIG_NR_CPUS's bound).
Result<std::vector<int>> ParseCpuList(std::string_view text);

}  // namespace firetower::daemon
