// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "k8s/pods/pod.h"

namespace firetower::k8s {

// The pods of one moment, for attribution by cgroup. Immutable; made by PodTracker.
class PodIndex {
 public:
  using Pods = std::vector<std::shared_ptr<const Pod>>;

  // Both sorted by cgroup_uid. `gone`: deleted a while ago.
  PodIndex(Pods live, Pods gone) : live_(std::move(live)), gone_(std::move(gone)) {}

  // By the uid in its cgroup's path; nullptr when it is not known (yet, or any more).
  std::shared_ptr<const Pod> Find(std::string_view cgroup_uid) const;

  const Pods& live() const { return live_; }
  const Pods& gone() const { return gone_; }

 private:
  Pods live_;
  Pods gone_;
};

}  // namespace firetower::k8s
