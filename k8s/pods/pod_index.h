// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "k8s/pods/pod.h"

namespace firetower::k8s {

// The pods at one moment, for attribution by cgroup. Immutable; made by PodTracker.
class PodIndex {
 public:
  using Pods = std::vector<std::shared_ptr<const Pod>>;

  // Both must be sorted by cgroup_uid. `gone`: deleted recently.
  PodIndex(Pods live, Pods gone) : live_(std::move(live)), gone_(std::move(gone)) {}

  // Finds a pod by the uid in its cgroup's path; nullptr when it is unknown (not yet, or no longer
  // known).
  std::shared_ptr<const Pod> Find(std::string_view cgroup_uid) const;

  const Pods& live() const { return live_; }
  const Pods& gone() const { return gone_; }

 private:
  Pods live_;
  Pods gone_;
};

}  // namespace firetower::k8s
