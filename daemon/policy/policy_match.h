// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "daemon/policy/cluster_view.h"
#include "daemon/process/cgroup_tree.h"
#include "k8s/policy/match.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// Tells whether the selector needs labels.
bool SelectsLabels(const std::optional<k8s::LabelSelector>& selector);

// Tells whether the policy can match nothing on a machine without labels.
bool NeedsLabels(const k8s::PolicySpec& spec);

// Returns whether a policy selects a container, on a node that the policy selects. `pod` is the
// container's, nullptr while it is unknown. Without a view there is no API server.
k8s::Match MatchTargets(const std::optional<ClusterView>& view, const k8s::ProfilingPolicy& policy,
                        const Container& container, const k8s::Pod* pod);

// Tells whether a capture with scope Node takes a container: it takes everything that has not opted
// out.
k8s::Match MatchNodeCapture(const std::optional<ClusterView>& view, const Container& container,
                            const k8s::Pod* pod);
// Tells the same for a whole pod.
k8s::Match MatchNodeCapture(const ClusterView& view, const k8s::Pod& pod);

}  // namespace firetower::daemon
