// SPDX-License-Identifier: Apache-2.0
// Policies as objects of an API server, read by the same fields as those of files. The server has
// judged them by its definition, which may be newer than this program: fields that are not known
// here are ignored and named, values that are not known refuse the policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "k8s/document/node.h"
#include "k8s/policy/load.h"
#include "k8s/policy/policy.h"
#include "k8s/watch/object_fields.h"

namespace firetower::k8s {

struct PolicyObject {
  std::string display_name;  // as DisplayName()
  std::string uid;
  int64_t generation = 0;
  std::optional<ProfilingPolicy> policy;    // absent: refused, or being deleted
  std::vector<PolicyError> errors;          // why it is refused
  std::vector<std::string> ignored_fields;  // "spec.newer"
};

inline constexpr std::string_view kPolicyApi = "/apis/firetower.dev/v1alpha1";

// Returns the fields of an object to keep.
FieldSet PolicyObjectFields();

// `cluster`: of the kind ClusterProfilingPolicy. kInvalid for what has no name or, in the
// namespaced kind, no namespace: it is no object of an API server.
Result<PolicyObject> ReadPolicyObject(const Node& object, bool cluster);

}  // namespace firetower::k8s
