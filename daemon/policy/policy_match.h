// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "daemon/policy/cluster_view.h"
#include "daemon/process/cgroup_tree.h"
#include "k8s/policy/match.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// The selector asks for labels.
bool SelectsLabels(const std::optional<k8s::LabelSelector>& selector);

// True if the policy can match nothing on a machine that knows no labels.
bool NeedsLabels(const k8s::PolicySpec& spec);

// Whether a policy takes a container, on a node that is the policy's. `pod` is the container's,
// nullptr while it is not known; without a view there is no API server.
k8s::Match MatchTargets(const std::optional<ClusterView>& view, const k8s::ProfilingPolicy& policy,
                        const Container& container, const k8s::Pod* pod);

// The same for what a capture of scope Node takes: everything but what opted out.
k8s::Match MatchNodeCapture(const std::optional<ClusterView>& view, const Container& container,
                            const k8s::Pod* pod);
// The same for a pod as a whole.
k8s::Match MatchNodeCapture(const ClusterView& view, const k8s::Pod& pod);

}  // namespace firetower::daemon
