// SPDX-License-Identifier: Apache-2.0
// Policies as the HTTP API tells them.
#pragma once

#include "k8s/policy/load.h"
#include "k8s/policy/policy.h"
#include "k8s/status/aggregate.h"
#include "query/sources.h"

namespace firetower::service {

// Returns what a policy asks for; nothing is known of how it is.
query::PolicyState StateOf(const k8s::ProfilingPolicy& policy);
// Returns an object of an API server with what its status says.
query::PolicyState StateOf(const k8s::WatchedPolicy& watched);
// Returns a document that was refused, by the place where it stands.
query::PolicyState RefusedState(const k8s::PolicyError& error);

}  // namespace firetower::service
