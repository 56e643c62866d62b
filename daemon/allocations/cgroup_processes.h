// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace firetower::daemon {

// Returns the processes in the cgroup `root_path` of the hierarchy mounted at `mount`, and in those
// below it except below `others`: the roots of other containers. In no order; at most
// kMaxProcesses. What ends meanwhile may be missing.
inline constexpr size_t kMaxProcesses = 16384;
std::vector<uint32_t> ProcessesIn(const std::string& mount, const std::string& root_path,
                                  const std::set<std::string>& others);

}  // namespace firetower::daemon
