// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "daemon/capture/cpu_list.h"
#include "daemon/policy/policy_match.h"
#include "daemon/policy/policy_rates.h"
#include "k8s/policy/match.h"

namespace firetower::daemon {
namespace {

using k8s::Match;
using k8s::PolicyState;
using k8s::ProfilingPolicy;

// One policy that may have a row.
struct Candidate {
  const ProfilingPolicy* policy;
  bool on_this_node = true;  // nodeSelector takes it
  bool node_wide = false;    // it records all containers that do not opt out
  bool dropped = false;      // it records nothing
  int64_t pods = 0;
  int64_t profiled = 0;
  int64_t overridden_pods = 0;
  bool overridden = false;  // in some container at least
};

bool Takes(const ProfilingPolicy& policy, const k8s::Pod& pod, const k8s::PodContainer& container) {
  return k8s::MatchContainer(policy.spec.targets, &pod, container.ids.front()).match == Match::kYes;
}

// Armed without a rate it samples nothing until it fires: others decide which stacks are kept.
bool Samples(const k8s::PolicySpec& spec) {
  return !spec.trigger || spec.trigger->armed_frequency_hertz > 0;
}

// A policy in one pod.
struct Share {
  Candidate* of;
  bool kept = false;        // in some container
  bool overridden = false;  // in some container
};

// Finds the policies that take a type of profile of a container that runs, or has run, and those
// whose stacks are kept of it: as PolicySelection decides it, container by container.
void JudgeContainers(const k8s::Pod& pod, k8s::ProfileType type, std::vector<Share>& shares) {
  for (const k8s::PodContainer& container : pod.containers) {
    if (container.ids.empty()) continue;
    const k8s::PolicySpec* first = nullptr;
    for (Share& share : shares) {
      const k8s::PolicySpec& spec = share.of->policy->spec;
      if (!k8s::FindProfile(spec, type)) continue;
      if (!share.of->node_wide && !Takes(*share.of->policy, pod, container)) continue;
      if (first == nullptr && Samples(spec) && !share.of->dropped) first = &spec;
      const bool kept = first == nullptr || first->stacks == spec.stacks;
      (kept ? share.kept : share.overridden) = true;
    }
  }
}

// A share in the pod, whose targets take it or not, here.
bool HasShare(const Candidate& one, bool targeted, const ClusterView& view, const k8s::Pod& pod) {
  if (!one.on_this_node) return false;
  if (!k8s::CapturesNode(one.policy->spec)) return targeted;
  return one.node_wide && MatchNodeCapture(view, pod) == Match::kYes;
}

void CountPod(const ClusterView& view, const k8s::Pod& pod, std::vector<Candidate>& candidates) {
  const k8s::Labels* labels = view.NamespaceLabels(pod.namespace_name);
  const auto opt_out = view.ignore_opt_out ? k8s::OptOut::kIgnored : k8s::OptOut::kHonoured;
  std::vector<Share> shares;
  for (Candidate& one : candidates) {
    const bool targeted =
        k8s::MatchPod(*one.policy, &pod, pod.cgroup_uid, labels, opt_out).match == Match::kYes;
    if (targeted) ++one.pods;
    if (HasShare(one, targeted, view, pod)) shares.push_back({&one});
  }
  for (const k8s::ProfileType type :
       {k8s::ProfileType::kCpu, k8s::ProfileType::kOffCpu, k8s::ProfileType::kLock,
        k8s::ProfileType::kMemory, k8s::ProfileType::kEvent})
    JudgeContainers(pod, type, shares);
  for (const Share& share : shares) {
    if (share.kept) ++share.of->profiled;
    if (!share.kept && share.overridden) ++share.of->overridden_pods;
    share.of->overridden |= share.overridden;
  }
}

// Adds a wish of the policy that the agent cannot fulfil; it runs without. A loss comes first.
void AddFault(const ProfilingPolicy& policy, const AgentFaults& faults, PolicyFinding& finding) {
  const k8s::PolicySpec& spec = policy.spec;
  const bool stores = spec.export_spec.object_store.mode != k8s::ObjectStoreMode::kDisabled;
  if (faults.store_fails && stores) {
    finding.reason = "StoreUnreachable";
    finding.message =
        "the store refused the last write: it is tried again, and the oldest profiles are dropped "
        "in the end";
    return;
  }
  const std::string user = spec.stacks == k8s::Stacks::kKernel ? "" : faults.user_names;
  const std::string kernel = spec.stacks == k8s::Stacks::kUser ? "" : faults.kernel_names;
  if (!user.empty() || !kernel.empty()) {
    finding.reason = "MissingCapability";
    finding.message = user + (user.empty() || kernel.empty() ? "" : "; ") + kernel;
  } else if (!faults.processes.empty()) {
    finding.reason = "MissingHostPID";
    finding.message = faults.processes;
  } else if (!faults.opt_outs.empty()) {
    finding.reason = "OptOutsUnknown";
    finding.message = faults.opt_outs;
  } else if (const int64_t asked = AskedHertz(spec, true); asked > faults.ceiling_hz) {
    finding.reason = "ExceedsClusterCeiling";
    finding.message = fmt::format(
        "it asks for {} Hz, but is sampled at {}: the agent's ceiling, max-frequency-hertz", asked,
        faults.ceiling_hz);
  } else if (const auto runtime = faults.types.runtimes.find(ShortName(policy));
             runtime != faults.types.runtimes.end() && spec.stacks != k8s::Stacks::kKernel) {
    finding.reason = "RuntimeUnsupported";
    finding.message = runtime->second;
  }
}

// Adds the types of profiles that the policy asks for and that cannot be had here. It fails if none
// is left.
void AddTypeFault(const ProfilingPolicy& policy, const TypeFaults& faults, PolicyFinding& finding) {
  const k8s::PolicySpec& spec = policy.spec;
  bool any = k8s::FindProfile(spec, k8s::ProfileType::kCpu).has_value();
  const auto lacks = [&](std::string reason, std::string message) {
    finding.reason = std::move(reason);
    finding.message = std::move(message);
  };
  for (const k8s::EventSpec& event : k8s::EventsOf(policy)) {
    const auto fault = faults.events.find(event.name);
    if (fault == faults.events.end())
      any = true;
    else
      lacks("EventUnavailable", fmt::format("event {}: {}", event.name, fault->second));
  }
  for (const k8s::ProfileType type : {k8s::ProfileType::kOffCpu, k8s::ProfileType::kLock}) {
    if (!k8s::FindProfile(spec, type)) continue;
    if (faults.waits.empty())
      any = true;
    else
      lacks(fmt::format("{}Unavailable", EnumName(type)),
            fmt::format("no {} profiles on this node: {}", EnumName(type), faults.waits));
  }
  if (k8s::FindProfile(spec, k8s::ProfileType::kLock) && faults.waits.empty() &&
      !faults.kernel_locks.empty())
    lacks("KernelLocksUnavailable", "locks of user space alone: " + faults.kernel_locks);
  if (k8s::FindProfile(spec, k8s::ProfileType::kMemory)) {
    any |= faults.allocations.empty();
    const auto heaps = faults.heaps.find(ShortName(policy));
    if (!faults.allocations.empty())
      lacks("AllocationsUnavailable", "no allocations on this node: " + faults.allocations);
    else if (heaps != faults.heaps.end())
      lacks(heaps->second.reason, heaps->second.message);
  }
  finding.failed |= !any && !finding.reason.empty();
}

// Returns the finding that follows from the policy's own text here.
PolicyFinding FindingOf(const ProfilingPolicy& policy, const PolicyFindings& findings,
                        const AgentFaults& faults) {
  const auto found = findings.find(policy.uid);
  PolicyFinding finding = found == findings.end() ? PolicyFinding{} : found->second;
  AddTypeFault(policy, faults.types, finding);
  if (finding.reason.empty()) AddFault(policy, faults, finding);
  if (finding.failed || !policy.spec.filter || !policy.spec.filter->cpus) return finding;
  const Result<std::vector<int>> cpus = ParseCpuList(*policy.spec.filter->cpus);
  if (!cpus) {
    finding.failed = true;
    finding.reason = "InvalidCPUList";
    finding.message = "filter.cpus: " + cpus.error().message();
  } else if (faults.cpu_end > 0 &&
             std::ranges::all_of(*cpus, [&](int cpu) { return cpu >= faults.cpu_end; })) {
    finding.failed = true;
    finding.reason = "NoSuchCPU";
    finding.message = fmt::format("filter.cpus: none of {} is on this node, whose last is {}",
                                  *policy.spec.filter->cpus, faults.cpu_end - 1);
  }
  return finding;
}

k8s::PolicyRow RowOf(const Candidate& one, const PolicyFinding& finding) {
  const ProfilingPolicy& policy = *one.policy;
  k8s::PolicyRow row;
  row.cluster = policy.cluster;
  row.namespace_name = policy.cluster ? "" : policy.namespace_name;
  row.name = policy.name;
  row.uid = policy.uid;
  row.generation = policy.generation;
  row.reason = finding.reason;
  row.message = finding.message;
  row.pods = one.pods;
  row.captures = finding.captures;
  row.last_capture_ns = finding.last_capture_ns;
  if (!one.on_this_node) {
    row.state = PolicyState::kSkipped;
    row.reason = "NodeSelector";
    row.message = "nodeSelector does not match this node";
    return row;
  }
  if (finding.failed) {
    row.state = PolicyState::kFailed;
    return row;
  }
  row.profiled_pods = one.profiled;
  row.state = policy.spec.mode == k8s::Mode::kTrigger ? PolicyState::kArmed : PolicyState::kRunning;
  if (one.overridden && row.reason.empty()) {
    row.reason = "Overridden";
    row.message = "another policy takes precedence in stacks for some containers";
  }
  if (one.overridden_pods > 0 && one.profiled == 0 && one.overridden_pods >= one.pods) {
    row.state = PolicyState::kOverridden;
  }
  return row;
}

}  // namespace

std::vector<k8s::PolicyRow> ReportPolicies(const std::vector<LoadedPolicy>& policies,
                                           const ClusterView& view, int64_t wall_ns,
                                           const PolicyFindings& findings,
                                           const AgentFaults& faults) {
  std::vector<k8s::PolicyRow> rows;
  if (!view.pods) return rows;
  std::vector<Candidate> candidates;
  for (const LoadedPolicy& loaded : policies) {
    // A policy from a file is not an object that could have a status.
    if (loaded.policy.uid.empty() || !IsActive(loaded, wall_ns)) continue;
    Candidate one{&loaded.policy};
    one.on_this_node = k8s::MatchNode(loaded.policy.spec, view.NodeLabels()).match == Match::kYes;
    const PolicyFinding finding = FindingOf(loaded.policy, findings, faults);
    one.node_wide = one.on_this_node && finding.node_wide;
    one.dropped = finding.dropped;
    candidates.push_back(one);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return ComesBefore(*a.policy, *b.policy); });
  for (const auto& pod : view.pods->live()) CountPod(view, *pod, candidates);
  for (const Candidate& one : candidates) {
    const bool host = one.policy->cluster && one.on_this_node &&
                      one.policy->spec.targets.host_processes == k8s::HostProcesses::kInclude;
    const PolicyFinding finding = FindingOf(*one.policy, findings, faults);
    // A failed policy is reported on the nodes where it would run.
    const bool fails = finding.failed && one.on_this_node;
    if (one.pods > 0 || host || fails || one.node_wide) rows.push_back(RowOf(one, finding));
  }
  std::sort(rows.begin(), rows.end(), [](const k8s::PolicyRow& a, const k8s::PolicyRow& b) {
    return std::tie(a.cluster, a.namespace_name, a.name) <
           std::tie(b.cluster, b.namespace_name, b.name);
  });
  return rows;
}

}  // namespace firetower::daemon
