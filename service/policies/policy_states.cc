// SPDX-License-Identifier: Apache-2.0
#include "service/policies/policy_states.h"

#include <string>

#include "k8s/policy/enums.h"
#include "k8s/status/policy_status.h"

namespace firetower::service {
namespace {

using query::PolicyHealth;
using query::PolicyState;

std::string KindName(bool cluster) {
  return cluster ? "ClusterProfilingPolicy" : "ProfilingPolicy";
}

template <typename E>
std::string NameOf(E value) {
  return std::string(k8s::kEnumNames<E>[static_cast<size_t>(value)]);
}

// A policy that waits for its nodes is neither well nor ill; one without pods has nothing to do.
PolicyHealth HealthOf(const k8s::PolicyStatus& status) {
  const k8s::Condition* accepted = status.Find(k8s::kAcceptedCondition);
  if (accepted != nullptr && accepted->status == k8s::ConditionStatus::kFalse)
    return PolicyHealth::kRefused;
  const k8s::Condition* degraded = status.Find(k8s::kDegradedCondition);
  if (degraded != nullptr && degraded->status == k8s::ConditionStatus::kTrue)
    return PolicyHealth::kDegraded;
  const k8s::Condition* ready = status.Find(k8s::kReadyCondition);
  if (ready == nullptr) return PolicyHealth::kUnknown;
  for (const char* reason : {"Suspended", "Complete", "NoTargets", "Overridden"})
    if (ready->reason == reason) return PolicyHealth::kOff;
  return ready->status == k8s::ConditionStatus::kTrue ? PolicyHealth::kOk : PolicyHealth::kUnknown;
}

}  // namespace

PolicyState StateOf(const k8s::ProfilingPolicy& policy) {
  PolicyState state;
  state.kind = KindName(policy.cluster);
  if (!policy.cluster) state.namespace_name = policy.namespace_name;
  state.name = policy.name;
  state.mode = NameOf(policy.spec.mode);
  for (const k8s::ProfileSpec& profile : policy.spec.profiles)
    state.types.push_back(NameOf(profile.type));
  // A policy without profiles asks for CPU.
  if (state.types.empty()) state.types.push_back(NameOf(k8s::ProfileType::kCpu));
  return state;
}

PolicyState StateOf(const k8s::WatchedPolicy& watched) {
  PolicyState state;
  if (watched.object.policy) state = StateOf(*watched.object.policy);
  state.kind = KindName(watched.cluster);
  state.namespace_name = watched.cluster ? "" : watched.namespace_name;
  state.name = watched.name;
  const k8s::PolicyStatus& status = watched.status;
  state.health = HealthOf(status);
  if (const k8s::Condition* ready = status.Find(k8s::kReadyCondition)) {
    state.reason = ready->reason;
    state.message = ready->message;
  }
  if (status.observed_generation < watched.object.generation && state.health == PolicyHealth::kOk)
    state.health = PolicyHealth::kUnknown;
  state.pods_matched = status.pods_matched;
  state.pods_profiled = status.pods_profiled;
  state.nodes_desired = status.nodes.desired;
  state.nodes_ready = status.nodes.ready;
  state.captures = status.captures;
  state.last_capture_ns = status.last_capture_ns;
  for (const k8s::NodeFailure& one : status.failures)
    state.failures.push_back({one.node, one.reason, one.message});
  return state;
}

PolicyState RefusedState(const k8s::PolicyError& error) {
  PolicyState state;
  state.name = error.file;
  state.health = PolicyHealth::kRefused;
  state.reason = "Invalid";
  state.message = error.ToString();
  return state;
}

}  // namespace firetower::service
