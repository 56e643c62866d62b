// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/hierarchy.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace firetower::daemon {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// At component borders: /sys/fs/cgroup2 is not below /sys/fs/cgroup.
bool IsAtOrBelow(std::string_view path, std::string_view root) {
  while (!root.empty() && root.back() == '/') root.remove_suffix(1);
  return path.substr(0, root.size()) == root &&
         (path.size() == root.size() || path[root.size()] == '/');
}

const CgroupMount* FindController(const std::vector<CgroupMount>& mounts,
                                  std::string_view controller) {
  for (const CgroupMount& mount : mounts) {
    if (!mount.v2 && mount.Has(controller)) return &mount;
  }
  return nullptr;
}

const CgroupMount* FindV2(const std::vector<CgroupMount>& mounts) {
  for (const CgroupMount& mount : mounts) {
    if (mount.v2) return &mount;
  }
  return nullptr;
}

bool AnyController(const std::vector<CgroupMount>& mounts) {
  for (std::string_view name : {"memory", "pids", "cpu", "cpuacct", "cpuset", "devices"}) {
    if (FindController(mounts, name) != nullptr) return true;
  }
  return false;
}

// "9:memory,hugetlb:/path" -> 9.
Result<uint32_t> HierarchyId(std::string_view self_cgroup, std::string_view controller) {
  for (std::string_view line : Split(self_cgroup, '\n')) {
    auto fields = Split(line, ':');
    if (fields.size() < 3) continue;
    for (std::string_view name : Split(fields[1], ',')) {
      if (name != controller) continue;
      uint32_t id = 0;
      std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), id);
      return id;
    }
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("controller {} is not in /proc/self/cgroup", controller));
}

Result<ChosenHierarchy> V1(const std::vector<CgroupMount>& mounts, std::string_view self_cgroup,
                           std::string_view controller, std::string mode) {
  const CgroupMount* mount = FindController(mounts, controller);
  if (mount == nullptr) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("no v1 hierarchy with controller \"{}\" is mounted", controller));
  }
  ASSIGN_OR_RETURN(uint32_t id, HierarchyId(self_cgroup, controller));
  return ChosenHierarchy{false, std::string(controller), id, mount->point, std::move(mode)};
}

}  // namespace

bool CgroupMount::Has(std::string_view controller) const {
  return std::find(controllers.begin(), controllers.end(), controller) != controllers.end();
}

// Bind mounts of a hierarchy come after its own. Format: proc_pid_mountinfo(5). Points with octal
// escapes do not occur below /sys/fs/cgroup.
std::vector<CgroupMount> FindCgroupMounts(std::string_view mountinfo, std::string_view root) {
  std::vector<CgroupMount> mounts;
  for (std::string_view line : Split(mountinfo, '\n')) {
    size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    auto before = Split(line.substr(0, dash), ' ');
    auto after = Split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    if (after[0] != "cgroup" && after[0] != "cgroup2") continue;
    if (!IsAtOrBelow(before[4], root)) continue;
    CgroupMount mount;
    mount.point = before[4];
    mount.v2 = after[0] == "cgroup2";
    if (!mount.v2) {
      for (std::string_view name : Split(after[2], ',')) mount.controllers.emplace_back(name);
    }
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::string ChosenHierarchy::Name() const { return v2 ? "v2" : "v1:" + controller; }

Result<ChosenHierarchy> ChooseHierarchy(std::string_view wanted, std::string_view mountinfo,
                                        std::string_view self_cgroup,
                                        std::string_view cgroup_root) {
  std::vector<CgroupMount> mounts = FindCgroupMounts(mountinfo, cgroup_root);
  const CgroupMount* v2 = FindV2(mounts);
  bool v1 = AnyController(mounts);
  std::string mode = v2 == nullptr ? "v1" : v1 ? "hybrid" : "v2";
  if (wanted == "v2" || (wanted == "auto" && !v1)) {
    if (v2 == nullptr) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("no cgroup hierarchy is mounted below {}: mount cgroup2 there, or "
                               "name another place with --cgroup-root",
                               cgroup_root));
    }
    return ChosenHierarchy{true, "", 0, v2->point, std::move(mode)};
  }
  if (wanted == "auto") {
    for (std::string_view controller : {"memory", "pids", "cpu"}) {
      if (FindController(mounts, controller) != nullptr) {
        return V1(mounts, self_cgroup, controller, std::move(mode));
      }
    }
    return Error(ErrorCode::kNotFound,
                 "none of the v1 controllers memory, pids and cpu is mounted: name the one to use "
                 "with --cgroup-hierarchy=v1:<controller>");
  }
  if (wanted.substr(0, 3) == "v1:" && wanted.size() > 3) {
    return V1(mounts, self_cgroup, wanted.substr(3), std::move(mode));
  }
  return Error(
      ErrorCode::kInvalid,
      fmt::format("cgroup hierarchy \"{}\": allowed are auto, v2 and v1:<controller>", wanted));
}

}  // namespace firetower::daemon
