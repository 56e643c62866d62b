// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/process/cgroup_tree.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

using ArmedPolicy = std::shared_ptr<const k8s::ProfilingPolicy>;  // spec.trigger is set

// A rule that held when its policy fired.
struct HeldRule {
  std::string name;
  k8s::Metric metric = k8s::Metric::kContainerCpu;
  k8s::Operator op = k8s::Operator::kGreaterThan;
  k8s::TargetType type = k8s::TargetType::kUtilization;  // of the two numbers: percent, or the unit
  double reading = 0;                                    // OOMKill: kills since the last look
  double threshold = 0;                                  // OOMKill: 0
  std::shared_ptr<const Container> container;            // nullptr: of the node
};

// A request for one capture.
struct Firing {
  ArmedPolicy policy;
  std::vector<HeldRule> rules;  // at least one
  // Where it was seen: the container of the first rule; nullptr for a metric of the node.
  std::shared_ptr<const Container> container;
  // The containers in the capture, among those that the policy takes. With scope Node it is
  // everything on the node, and the list is empty.
  bool whole_node = false;
  std::vector<std::shared_ptr<const Container>> captured;
  k8s::CaptureSpec capture;
  int64_t monotonic_ns = 0;
  int64_t wall_ns = 0;
};

// Returns "hot: ContainerCPU 97.5 % > 90 %" or "killed: OOMKill"; several rules are joined by ", ".
std::string Describe(const Firing& firing);

// The reason why a policy whose rules hold makes no capture. Counted once for each time that they
// begin to hold.
enum class Suppressed : uint8_t {
  kCaptureRunning,  // of the same subject: it is in that capture, and makes none of its own
  kCooldown,        // made when the cooldown ends, if the rules hold still
  kHourlyCap,       // made when the hour has room again, if the rules hold still
  kNotReset,        // the metric did not fall by resetPercent since the last capture
};
inline constexpr std::array<std::string_view, 4> kSuppressedNames{"CaptureRunning", "Cooldown",
                                                                  "HourlyCap", "NotReset"};

struct TriggerCounts {
  uint64_t evaluations = 0;  // readings compared with a threshold
  uint64_t captures = 0;     // firings
  std::array<uint64_t, kSuppressedNames.size()> suppressed{};
};

}  // namespace firetower::daemon
