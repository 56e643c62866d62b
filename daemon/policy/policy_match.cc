// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_match.h"

#include <algorithm>
#include <string>
#include <vector>

namespace firetower::daemon {

using k8s::Match;
using k8s::PathKind;
using k8s::ProfilingPolicy;

bool SelectsLabels(const std::optional<k8s::LabelSelector>& selector) {
  return selector.has_value() && !k8s::MatchesEverything(*selector);
}

bool NeedsLabels(const k8s::PolicySpec& spec) {
  return SelectsLabels(spec.targets.namespace_selector) || SelectsLabels(spec.node_selector);
}

namespace {

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// On a machine without an API server.
bool MatchesAlone(const ProfilingPolicy& policy, const Container& container) {
  const k8s::Targets& targets = policy.spec.targets;
  if (NeedsLabels(policy.spec)) return false;
  bool in_pod = container.path.kind == PathKind::kContainer ||
                container.path.kind == PathKind::kPodSandboxLevel;
  if (!in_pod) {
    return policy.cluster && targets.host_processes == k8s::HostProcesses::kInclude;
  }
  if (!targets.pod_selector.has_value() || SelectsLabels(targets.pod_selector)) return false;
  if (targets.containers.has_value()) {
    const std::string& name = container.labels.container;
    if (!targets.containers->include.empty() && !Contains(targets.containers->include, name)) {
      return false;
    }
    if (Contains(targets.containers->exclude, name)) return false;
  }
  const std::string& identity =
      container.path.pod_uid.empty() ? container.path.container_id : container.path.pod_uid;
  return k8s::InPercent(identity, targets.pod_percent);
}

// In a cluster, on a node that the policy takes.
Match MatchesIn(const ClusterView& view, const ProfilingPolicy& policy, const Container& container,
                const k8s::Pod* pod) {
  const k8s::Targets& targets = policy.spec.targets;
  const std::string& uid = container.path.pod_uid;
  if (uid.empty()) {
    const bool host = policy.cluster && targets.host_processes == k8s::HostProcesses::kInclude;
    return host ? Match::kYes : Match::kNo;
  }
  const k8s::Labels* labels = pod == nullptr ? nullptr : view.NamespaceLabels(pod->namespace_name);
  const auto opt_out = view.ignore_opt_out ? k8s::OptOut::kIgnored : k8s::OptOut::kHonoured;
  const Match taken = k8s::MatchPod(policy, pod, uid, labels, opt_out).match;
  if (taken == Match::kNo) return Match::kNo;
  const std::string& id = container.path.container_id;
  const Match named = k8s::MatchContainer(targets, pod, id).match;
  if (taken == Match::kYes || named == Match::kNo) return named;
  return Match::kOpen;
}

}  // namespace

Match MatchTargets(const std::optional<ClusterView>& view, const ProfilingPolicy& policy,
                   const Container& container, const k8s::Pod* pod) {
  if (!view) return MatchesAlone(policy, container) ? Match::kYes : Match::kNo;
  const Match match = MatchesIn(*view, policy, container, pod);
  if (match != Match::kOpen) return match;
  // A missing object may still come, but not before the first complete list.
  return view->pods && (pod == nullptr || view->namespaces) ? Match::kOpen : Match::kNo;
}

Match MatchNodeCapture(const ClusterView& view, const k8s::Pod& pod) {
  if (view.ignore_opt_out) return Match::kYes;
  if (k8s::OptsOut(pod.labels)) return Match::kNo;
  const k8s::Labels* labels = view.NamespaceLabels(pod.namespace_name);
  if (labels == nullptr) return view.namespaces ? Match::kOpen : Match::kNo;
  return k8s::OptsOut(*labels) ? Match::kNo : Match::kYes;
}

Match MatchNodeCapture(const std::optional<ClusterView>& view, const Container& container,
                       const k8s::Pod* pod) {
  if (!view || view->ignore_opt_out || container.path.pod_uid.empty()) return Match::kYes;
  if (pod == nullptr) return view->pods ? Match::kOpen : Match::kNo;
  return MatchNodeCapture(*view, *pod);
}

}  // namespace firetower::daemon
