// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/container/flat_map.h"
#include "base/result.h"
#include "k8s/cgroup_path.h"

namespace firetower::daemon {

// The unit that a sample is attributed to: a container, a pod's own cgroup, a systemd unit or the
// host.
struct Container {
  k8s::ContainerPath path;
  k8s::PathLabels labels;
  std::string root_path;  // of its root cgroup; all cgroups below belong to it

  bool InContainer() const { return path.kind == k8s::PathKind::kContainer; }
};

struct CgroupNode {
  uint64_t id = 0;
  std::string path;  // in the hierarchy, "/" for its root
  std::shared_ptr<const Container> container;
  int64_t removed_ns = 0;  // 0: exists
};

// The cgroups of the chosen hierarchy by id: read once from the mounted tree, then updated by the
// kernel's events. Owned by the resolve thread. Bounded by kMaxNodes. A removed cgroup is kept for
// a minute, because its last samples may still arrive.
class CgroupTree {
 public:
  static constexpr size_t kMaxNodes = 65536;
  static constexpr int64_t kKeepRemovedNs = 60'000'000'000;

  // `mount` is the path of the hierarchy, for example /sys/fs/cgroup/memory.
  explicit CgroupTree(std::string mount) : mount_(std::move(mount)) {}

  // Reads the mounted tree; ids are the folders' inode numbers (kernfs, 64-bit kernels). kExhausted
  // if it has more than kMaxNodes cgroups: the others stay unknown.
  Status Scan();
  void Add(uint64_t id, std::string_view path);
  void Rename(uint64_t id, std::string_view path) { Add(id, path); }
  void Remove(uint64_t id, int64_t now_ns);
  // Returns the ids whose folder is gone although no event said so. Costs one look-up for each.
  std::vector<uint64_t> Missing() const;
  // Drops cgroups that were removed long enough ago. Returns their ids.
  std::vector<uint64_t> Sweep(int64_t now_ns);

  const CgroupNode* Find(uint64_t id) const;
  size_t size() const { return nodes_.size(); }
  // Changes when a cgroup is added, is dropped, or gets another container.
  uint64_t version() const { return version_; }
  // The number of cgroups that found no room.
  uint64_t refused() const { return refused_; }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [id, node] : nodes_) visit(*node);
  }

 private:
  std::shared_ptr<const Container> ContainerOf(std::string_view path);

  std::string mount_;
  uint64_t refused_ = 0;
  uint64_t version_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<CgroupNode>> nodes_;
  std::unordered_map<std::string, std::weak_ptr<const Container>> containers_;  // by root path
};

}  // namespace firetower::daemon
