// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/cgroup_tree.h"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/stat.h>

namespace firetower::daemon {
namespace {

// The first `depth` components of a path; "/" for none.
std::string Prefix(std::string_view path, size_t depth) {
  size_t end = 0;
  for (size_t i = 0; i < depth && end != std::string_view::npos; ++i) end = path.find('/', end + 1);
  std::string_view prefix = path.substr(0, end);
  return prefix.empty() ? "/" : std::string(prefix);
}

}  // namespace

std::shared_ptr<const Container> CgroupTree::ContainerOf(std::string_view path) {
  k8s::ContainerPath parsed = k8s::ParseCgroupPath(path);
  std::string root = Prefix(path, parsed.root_depth);
  std::weak_ptr<const Container>& known = containers_[root];
  if (auto container = known.lock()) return container;
  auto container = std::make_shared<Container>();
  container->labels = k8s::LabelsOf(parsed);
  container->path = std::move(parsed);
  container->root_path = std::move(root);
  known = container;
  return container;
}

void CgroupTree::Add(uint64_t id, std::string_view path) {
  auto found = nodes_.find(id);
  if (found == nodes_.end()) {
    if (nodes_.size() >= kMaxNodes) {
      ++refused_;
      return;
    }
    found = nodes_.emplace(id, std::make_unique<CgroupNode>()).first;
  }
  CgroupNode& node = *found->second;
  node.id = id;
  node.path = path.empty() ? "/" : path;
  std::shared_ptr<const Container> container = ContainerOf(node.path);
  if (container != node.container) ++version_;
  node.container = std::move(container);
  node.removed_ns = 0;
}

void CgroupTree::Remove(uint64_t id, int64_t now_ns) {
  auto found = nodes_.find(id);
  if (found != nodes_.end()) found->second->removed_ns = now_ns;
}

std::vector<uint64_t> CgroupTree::Missing() const {
  std::vector<uint64_t> missing;
  for (const auto& [id, node] : nodes_) {
    if (node->removed_ns != 0) continue;
    struct stat info {};
    bool there = ::stat((mount_ + node->path).c_str(), &info) == 0 && info.st_ino == id;
    if (!there) missing.push_back(id);
  }
  return missing;
}

std::vector<uint64_t> CgroupTree::Sweep(int64_t now_ns) {
  std::vector<uint64_t> swept;
  for (auto it = nodes_.begin(); it != nodes_.end();) {
    bool old = it->second->removed_ns != 0 && it->second->removed_ns + kKeepRemovedNs <= now_ns;
    if (old) swept.push_back(it->first);
    version_ += old ? 1 : 0;
    it = old ? nodes_.erase(it) : std::next(it);
  }
  for (auto it = containers_.begin(); it != containers_.end();) {
    it = it->second.expired() ? containers_.erase(it) : std::next(it);
  }
  return swept;
}

const CgroupNode* CgroupTree::Find(uint64_t id) const {
  auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : found->second.get();
}

Status CgroupTree::Scan() {
  // Breadth first with our own list: a path may be deeper than the stack likes.
  std::vector<std::string> folders{""};
  for (size_t next = 0; next < folders.size(); ++next) {
    std::string path = folders[next];
    std::string full = mount_ + path;
    struct stat info {};
    if (::stat(full.c_str(), &info) != 0) continue;  // Gone meanwhile.
    if (nodes_.size() >= kMaxNodes && nodes_.count(info.st_ino) == 0) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("more than {} cgroups below {}: the rest is not attributed",
                               kMaxNodes, mount_));
    }
    Add(info.st_ino, path);
    std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(full.c_str()), ::closedir);
    if (!dir) continue;
    while (dirent* entry = ::readdir(dir.get())) {
      std::string_view name = entry->d_name;
      if (entry->d_type == DT_DIR && name != "." && name != "..") {
        folders.push_back(fmt::format("{}/{}", path, name));
      }
    }
  }
  return OkStatus();
}

}  // namespace firetower::daemon
