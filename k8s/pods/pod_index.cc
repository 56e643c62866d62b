// SPDX-License-Identifier: Apache-2.0
#include "k8s/pods/pod_index.h"

#include <algorithm>

namespace firetower::k8s {

std::shared_ptr<const Pod> PodIndex::Find(std::string_view cgroup_uid) const {
  for (const Pods* pods : {&live_, &gone_}) {
    const auto at = std::lower_bound(
        pods->begin(), pods->end(), cgroup_uid,
        [](const auto& pod, std::string_view uid) { return pod->cgroup_uid < uid; });
    if (at != pods->end() && (*at)->cgroup_uid == cgroup_uid) return *at;
  }
  return nullptr;
}

}  // namespace firetower::k8s
