// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::daemon {

// A set of CPUs by number, as large as the kernel allows (CONFIG_NR_CPUS).
using CpuSet = std::bitset<8192>;

// Parses the kernel's CPU list form, "0-3,8" (Documentation/admin-guide/cputopology.rst). Returns
// the numbers sorted and without duplicates. An empty list is allowed; numbers end at 8191
// (CONFIG_NR_CPUS's bound).
Result<std::vector<int>> ParseCpuList(std::string_view text);

// Returns one above the highest possible CPU number of this machine, from `sys_root`. There may be
// gaps, so this may be more than the number of CPUs.
Result<int> PossibleCpuEnd(const std::string& sys_root);

}  // namespace firetower::daemon
