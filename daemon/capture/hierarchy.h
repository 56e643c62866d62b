// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::daemon {

// A mounted cgroup hierarchy.
struct CgroupMount {
  std::string point;
  bool v2 = false;
  std::vector<std::string> controllers;  // v1: of its super block options

  bool Has(std::string_view controller) const;
};

// Returns the cgroup mounts below `root`, from the text of <proc>/self/mountinfo, in its order.
std::vector<CgroupMount> FindCgroupMounts(std::string_view mountinfo, std::string_view root);

// The one cgroup hierarchy whose ids the samples carry. There is only one, because ids repeat
// across hierarchies.
struct ChosenHierarchy {
  bool v2 = true;
  std::string controller;     // v1: the controller, e.g. "memory"
  uint32_t hierarchy_id = 0;  // first field of its line in /proc/self/cgroup; v2 is 0
  std::string mount;          // where its tree is seen, e.g. /sys/fs/cgroup/memory
  std::string mode;           // of the host: "v2", "hybrid" or "v1"

  // Returns "v2" or "v1:memory".
  std::string Name() const;
};

// Chooses a hierarchy by the texts of <proc>/self/mountinfo and <proc>/self/cgroup. `wanted` is
// auto, v2 or v1:<controller>. Auto means v2 if only v2 is mounted, else the first mounted one of
// memory, pids and cpu: container runtimes use every controller, and systemd gives each unit its
// own cgroup in the first two. kInvalid: a spelling error. kNotFound: the hierarchy is not mounted.
Result<ChosenHierarchy> ChooseHierarchy(std::string_view wanted, std::string_view mountinfo,
                                        std::string_view self_cgroup, std::string_view cgroup_root);

}  // namespace firetower::daemon
