// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "daemon/policy/policy_objects.h"
#include "daemon/policy/policy_store.h"

namespace firetower::daemon {

// The policies of files and of the API server in one list.
struct PolicySet {
  std::vector<LoadedPolicy> policies;
  std::vector<k8s::PolicyError> errors;
  size_t refused = 0;  // policies, of which each may have several errors
  std::vector<std::string> warnings;
};

// Merges the two sources; either may be null. Kind, namespace and name identify a policy in both.
// If both have the same one, the file's wins, because files are this machine's own, and the other
// one is an error.
PolicySet MergePolicies(const PolicyStore* files, const PolicyObjects* objects);

}  // namespace firetower::daemon
