// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::daemon {

// The mount points of the controllers' trees, each "" if not mounted. A container has the same path
// in all of them. A controller mounted as v1 is not in v2, even if files exist there: on a hybrid
// machine v2 has no controllers, only the pressure of its own tasks.
struct CgroupRoots {
  std::string v2;
  std::string v1_cpu;
  std::string v1_cpuacct;
  std::string v1_memory;

  bool hybrid() const { return !v2.empty() && !(v1_cpu + v1_cpuacct + v1_memory).empty(); }
};

// Finds the mount points below `cgroup_root`, from the text of <proc>/self/mountinfo.
CgroupRoots CgroupRootsOf(std::string_view mountinfo, std::string_view cgroup_root);

}  // namespace firetower::daemon
