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

// What a sample is attributed to: a container, a pod's own cgroup, a systemd unit or the host.
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

// The cgroups of the chosen hierarchy by id: read once from the mounted tree, then told by the
// kernel. Owned by the resolve thread. Bounded by kMaxNodes; a removed cgroup is kept for a minute
// because samples of its last moments are still on their way.
class CgroupTree {
 public:
  static constexpr size_t kMaxNodes = 65536;
  static constexpr int64_t kKeepRemovedNs = 60'000'000'000;

  // `mount`: where the hierarchy is seen, e.g. /sys/fs/cgroup/memory.
  explicit CgroupTree(std::string mount) : mount_(std::move(mount)) {}

  // Reads the mounted tree; ids are the folders' inode numbers (kernfs, 64-bit kernels).
  // kExhausted if it has more than kMaxNodes cgroups: the rest stays unknown.
  Status Scan();
  void Add(uint64_t id, std::string_view path);
  void Rename(uint64_t id, std::string_view path) { Add(id, path); }
  void Remove(uint64_t id, int64_t now_ns);
  // Ids whose folder is not there any more though nobody said so: one look at each.
  std::vector<uint64_t> Missing() const;
  // Drops what was removed for long enough. Returns the ids.
  std::vector<uint64_t> Sweep(int64_t now_ns);

  const CgroupNode* Find(uint64_t id) const;
  size_t size() const { return nodes_.size(); }
  // Changes when a cgroup comes, goes for good, or becomes another container's.
  uint64_t version() const { return version_; }
  // Cgroups that found no room.
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
