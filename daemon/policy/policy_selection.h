// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/policy/cluster_view.h"
#include "daemon/policy/selection.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// A policy and when this daemon first saw it (Unix time): what its deadline counts from.
struct LoadedPolicy {
  k8s::ProfilingPolicy policy;
  int64_t since_ns = 0;
  std::shared_ptr<const PolicyFilter> filter = nullptr;  // PolicySchedule compiles it
};

// When and where policies are in force. With a view of the cluster, pods are matched as their
// objects say, and what is in no pod is a host process. Without one (no API server) no pod object
// is known: a selector that asks for nothing takes every container, one that asks for labels none;
// `containers` is compared with the container label; hostProcesses is everything else.
class PolicySchedule {
 public:
  // `ceiling_hz` caps every rate.
  PolicySchedule(std::vector<LoadedPolicy> policies, uint32_t ceiling_hz);

  // The policies in force at a moment of the wall clock.
  std::shared_ptr<const Selection> At(int64_t wall_ns,
                                      std::optional<ClusterView> view = std::nullopt) const;
  // All that may ever be in force here, as if they were: whether a container that was sampled while
  // that was open is any policy's.
  std::shared_ptr<const Selection> Whenever(const ClusterView& view) const;
  // The next moment after it at which At() gives another answer; nullopt if never.
  std::optional<int64_t> NextChange(int64_t wall_ns) const;
  // What a person should know: parts of policies that match nothing here, or are not served.
  std::vector<std::string> Warnings(bool in_cluster = false) const;

  size_t size() const { return policies_->size(); }

 private:
  template <typename Wanted>
  std::shared_ptr<const Selection> Select(Wanted wanted, std::optional<ClusterView> view,
                                          bool settled) const;

  std::shared_ptr<const std::vector<LoadedPolicy>> policies_;
  uint32_t ceiling_hz_;
};

}  // namespace firetower::daemon
