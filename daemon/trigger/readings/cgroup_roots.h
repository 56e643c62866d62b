// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace firetower::daemon {

// Where the controllers' trees are seen, each "" where it is not mounted. A container has the same
// path in all of them. What is mounted as v1 is not in v2, whatever files lie there: in a hybrid
// machine v2 has no controllers, but the pressure of what runs in it.
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
