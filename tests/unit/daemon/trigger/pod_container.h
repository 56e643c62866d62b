// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>

#include "daemon/process/cgroup_tree.h"

namespace firetower::daemon {

// Container `digit` of pod `pod`, as the cgroup tree makes it of its path.
inline std::shared_ptr<const Container> PodContainer(char pod, char digit) {
  auto container = std::make_shared<Container>();
  container->root_path =
      fmt::format("/kubepods/burstable/pod12345678-1234-1234-1234-12345678901{}/{}", pod,
                  std::string(64, digit));
  container->path = k8s::ParseCgroupPath(container->root_path);
  container->labels = k8s::LabelsOf(container->path);
  return container;
}

}  // namespace firetower::daemon
