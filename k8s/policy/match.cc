// SPDX-License-Identifier: Apache-2.0
#include "k8s/policy/match.h"

#include <algorithm>

#include "base/hash.h"

namespace firetower::k8s {
namespace {

bool Names(const WorkloadRef& ref, const Pod& pod) {
  const std::string_view kind = EnumName(ref.kind);
  if (ref.kind == WorkloadKind::kPod) return ref.name == pod.name;
  // Its ReplicaSet or Job, and the Deployment or CronJob above that.
  for (const Workload* workload : {&pod.owner, &pod.workload}) {
    if (workload->kind == kind && workload->name == ref.name) return true;
  }
  return false;
}

bool Selects(const Targets& targets, const Pod& pod) {
  if (Matches(targets.pod_selector, pod.labels)) return true;
  return std::any_of(targets.workload_refs.begin(), targets.workload_refs.end(),
                     [&](const WorkloadRef& ref) { return Names(ref, pod); });
}

// Every pod of every namespace: nothing about a pod needs to be known.
bool SelectsAll(const ProfilingPolicy& policy) {
  const Targets& targets = policy.spec.targets;
  return policy.cluster && !targets.namespace_selector && targets.pod_selector &&
         MatchesEverything(*targets.pod_selector);
}

bool Contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

bool OptsOut(const Labels& labels) {
  const auto found = labels.find(kOptOutLabel);
  return found != labels.end() && found->second == "false";
}

TargetMatch MatchPod(const ProfilingPolicy& policy, const Pod* pod, std::string_view cgroup_uid,
                     const Labels* namespace_labels, OptOut opt_out) {
  const Targets& targets = policy.spec.targets;
  if (!targets.pod_selector && targets.workload_refs.empty())
    return {Match::kNo, "the policy selects no pods"};
  if (!InPercent(cgroup_uid, targets.pod_percent))
    return {Match::kNo, "the pod is not in the share of podPercent"};
  if (pod == nullptr) {
    if (SelectsAll(policy)) return {Match::kYes, "the policy selects every pod"};
    return {Match::kOpen, "the pod's object is not known yet"};
  }
  const bool honoured = opt_out == OptOut::kHonoured;
  if (honoured && pod->opted_out)
    return {Match::kNo, "the pod opts out: label firetower.dev/profile is \"false\""};
  if (honoured && namespace_labels != nullptr && OptsOut(*namespace_labels))
    return {Match::kNo, "the namespace opts out: label firetower.dev/profile is \"false\""};
  if (!policy.cluster && policy.namespace_name != pod->namespace_name)
    return {Match::kNo, "the pod is in another namespace"};
  if (!Selects(targets, *pod))
    return {Match::kNo, "neither podSelector nor workloadRefs matches the pod"};
  if (policy.cluster && targets.namespace_selector) {
    if (namespace_labels == nullptr)
      return {Match::kOpen, "the namespace's labels are not known yet"};
    if (!Matches(*targets.namespace_selector, *namespace_labels))
      return {Match::kNo, "namespaceSelector does not match the pod's namespace"};
  }
  return {Match::kYes, "the targets include the pod"};
}

TargetMatch MatchContainer(const Targets& targets, const Pod* pod, std::string_view container_id) {
  if (!targets.containers) return {Match::kYes, "every container is selected"};
  const ContainerNames& names = *targets.containers;
  if (names.include.empty() && names.exclude.empty())
    return {Match::kYes, "every container is selected"};
  if (container_id.empty()) {
    return names.include.empty()
               ? TargetMatch{Match::kYes, "the container is not excluded"}
               : TargetMatch{Match::kNo, "containers.include does not name the container"};
  }
  const PodContainer* container = pod == nullptr ? nullptr : pod->FindContainer(container_id);
  if (container == nullptr) return {Match::kOpen, "the container's name is not known yet"};
  if (!names.include.empty() && !Contains(names.include, container->name))
    return {Match::kNo, "containers.include does not name the container"};
  if (Contains(names.exclude, container->name)) return {Match::kNo, "containers.exclude has it"};
  return {Match::kYes, "the container is selected"};
}

TargetMatch MatchNode(const PolicySpec& spec, const Labels* node_labels) {
  if (!spec.node_selector || MatchesEverything(*spec.node_selector))
    return {Match::kYes, "every node is selected"};
  if (node_labels == nullptr) return {Match::kNo, "the node's labels are not known"};
  if (!Matches(*spec.node_selector, *node_labels))
    return {Match::kNo, "nodeSelector does not match this node"};
  return {Match::kYes, "nodeSelector matches this node"};
}

bool InPercent(std::string_view uid, int64_t percent) {
  if (percent >= 100) return true;
  uint64_t hash = kHashSeed;
  for (const char c : uid) hash = HashWord(hash, static_cast<unsigned char>(c));
  return static_cast<int64_t>(hash % 100) < percent;
}

}  // namespace firetower::k8s
