// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/readings/cgroup_roots.h"

#include "daemon/capture/hierarchy.h"

namespace firetower::daemon {

CgroupRoots CgroupRootsOf(std::string_view mountinfo, std::string_view cgroup_root) {
  CgroupRoots roots;
  const auto take = [](std::string& root, const CgroupMount& mount) {
    if (root.empty()) root = mount.point;
  };
  for (const CgroupMount& mount : FindCgroupMounts(mountinfo, cgroup_root)) {
    if (mount.v2) take(roots.v2, mount);
    if (mount.Has("cpu")) take(roots.v1_cpu, mount);
    if (mount.Has("cpuacct")) take(roots.v1_cpuacct, mount);
    if (mount.Has("memory")) take(roots.v1_memory, mount);
  }
  return roots;
}

}  // namespace firetower::daemon
