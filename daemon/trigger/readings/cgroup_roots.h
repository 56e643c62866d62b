// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::daemon {

// Mount points of the controllers' trees, each "" if not mounted. A container has the same path in
// all of them. A controller that is mounted as v1 is not in v2, whatever files lie there: on a
// hybrid machine v2 has no controllers, only the pressure of the tasks in it.
struct CgroupRoots {
  std::string v2;
  std::string v1_cpu;
  std::string v1_cpuacct;
  std::string v1_memory;

  bool hybrid() const { return !v2.empty() && !(v1_cpu + v1_cpuacct + v1_memory).empty(); }
};

// From the text of <proc>/self/mountinfo, of what is mounted below `cgroup_root`.
CgroupRoots CgroupRootsOf(std::string_view mountinfo, std::string_view cgroup_root);

}  // namespace firetower::daemon
