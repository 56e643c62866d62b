// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "daemon/policy/policy_objects.h"
#include "daemon/policy/policy_store.h"

namespace firetower::daemon {

// The policies of files and of the API server as one.
struct PolicySet {
  std::vector<LoadedPolicy> policies;
  std::vector<k8s::PolicyError> errors;
  size_t refused = 0;  // policies, of which each may have several errors
  std::vector<std::string> warnings;
};

// Either may be null. Kind, namespace and name are a policy's identity wherever it comes from; of
// two that are called alike the file's counts, which is this machine's own, and the other is an
// error.
PolicySet MergePolicies(const PolicyStore* files, const PolicyObjects* objects);

}  // namespace firetower::daemon
