// SPDX-License-Identifier: Apache-2.0
// A cluster of a few pods, as an API server would return them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/export/container_names.h"

namespace firetower::daemon {

inline k8s::Pod PodCalled(const std::string& name, const std::string& uid,
                          std::vector<std::pair<std::string, std::string>> names_and_ids) {
  k8s::Pod pod;
  pod.namespace_name = "shop";
  pod.name = name;
  pod.uid = pod.cgroup_uid = uid;
  pod.workload = {"Deployment", "checkout"};
  for (auto& [container, id] : names_and_ids) {
    pod.containers.push_back({container, k8s::ContainerKind::kRegular, {}});
    if (!id.empty()) pod.containers.back().ids.push_back(id);
  }
  return pod;
}

class FakePods {
 public:
  void Add(k8s::Pod pod) {
    std::string uid = pod.cgroup_uid;
    pods_[uid] = std::make_shared<const k8s::Pod>(std::move(pod));
    Publish();
  }
  // The first set is whole, maybe without a pod.
  void Publish() {
    k8s::PodIndex::Pods live;
    for (const auto& [uid, pod] : pods_) live.push_back(pod);
    index_ = std::make_shared<const k8s::PodIndex>(std::move(live), k8s::PodIndex::Pods());
  }
  PodSource Source() {
    return [this] { return index_; };
  }

 private:
  std::map<std::string, std::shared_ptr<const k8s::Pod>> pods_;
  std::shared_ptr<const k8s::PodIndex> index_;
};

inline std::shared_ptr<const Container> ContainerAt(const std::string& path) {
  auto container = std::make_shared<Container>();
  container->path = k8s::ParseCgroupPath(path);
  container->labels = k8s::LabelsOf(container->path);
  container->root_path = path;
  return container;
}

}  // namespace firetower::daemon
