// SPDX-License-Identifier: Apache-2.0
// Reads policies from objects of an API server, with the same fields as those in files. The server
// has checked them with its definition, which may be newer than this program: unknown fields are
// ignored and listed, unknown values refuse the policy.
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

// Reads an object. `cluster`: its kind is ClusterProfilingPolicy. kInvalid: it has no name or, in
// the namespaced kind, no namespace, so it is not an object of an API server.
Result<PolicyObject> ReadPolicyObject(const Node& object, bool cluster);

}  // namespace firetower::k8s
