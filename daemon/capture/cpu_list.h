// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::daemon {

// CPUs by number; as many as the kernel can have (CONFIG_NR_CPUS).
using CpuSet = std::bitset<8192>;

// Parses the kernel's CPU list form, "0-3,8" (Documentation/admin-guide/cputopology.rst), sorted
// and without repeats. An empty list is allowed; numbers end at 8191 (CONFIG_NR_CPUS's bound).
Result<std::vector<int>> ParseCpuList(std::string_view text);

// One above the highest number that a CPU of this machine may have, of `sys_root`: there may be
// gaps, so that it is more than there are.
Result<int> PossibleCpuEnd(const std::string& sys_root);

}  // namespace firetower::daemon
