// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/policy/selection.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// A policy and when this daemon first saw it (Unix time): what its deadline counts from.
struct LoadedPolicy {
  k8s::ProfilingPolicy policy;
  int64_t since_ns = 0;
};

// The policies as a daemon without an API server can serve them. It knows no pod objects: a
// selector that asks for nothing takes every container, one that asks for labels none;
// `containers` is compared with the container label; hostProcesses is everything else.
class PolicySchedule {
 public:
  // `ceiling_hz` caps every rate.
  PolicySchedule(std::vector<LoadedPolicy> policies, uint32_t ceiling_hz);

  // The policies in force at a moment of the wall clock.
  std::shared_ptr<const Selection> At(int64_t wall_ns) const;
  // The next moment after it at which At() gives another answer; nullopt if never.
  std::optional<int64_t> NextChange(int64_t wall_ns) const;
  // What a person should know: parts of policies that match nothing here, or are not served.
  std::vector<std::string> Warnings() const;

  size_t size() const { return policies_.size(); }

 private:
  std::vector<LoadedPolicy> policies_;
  uint32_t ceiling_hz_;
};

}  // namespace firetower::daemon
