// SPDX-License-Identifier: Apache-2.0
#include "k8s/policy/object.h"

#include "k8s/client/exec_plugin.h"
#include "k8s/policy/reader.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {

FieldSet PolicyObjectFields() {
  return {"metadata.generation", "metadata.creationTimestamp", "metadata.deletionTimestamp",
          "metadata.labels", "spec"};
}

Result<PolicyObject> ReadPolicyObject(const Node& object, bool cluster) {
  ProfilingPolicy policy;
  policy.cluster = cluster;
  policy.name = TextAt(object, {"metadata", "name"});
  policy.namespace_name = TextAt(object, {"metadata", "namespace"});
  if (policy.name.empty() || policy.namespace_name.empty() != cluster)
    return Error(ErrorCode::kInvalid, "a policy's object has no name, or a wrong namespace");
  PolicyObject result;
  result.display_name = DisplayName(policy);
  result.uid = TextAt(object, {"metadata", "uid"});
  result.generation = IntegerAt(object, {"metadata", "generation"});

  ErrorList errors(result.display_name, UnknownFields::kIgnore);
  Reader reader(object, "", cluster, errors);
  // Said by where it was asked for.
  reader.Take("apiVersion");
  reader.Take("kind");
  ReadPolicyBody(reader, policy, errors);
  policy.source = "API server";
  policy.uid = result.uid;
  policy.generation = result.generation;
  policy.created_ns =
      ParseTimestampNs(TextAt(object, {"metadata", "creationTimestamp"})).value_or(0);
  // Whoever holds it back with a finalizer does not want it to go on.
  const bool deleting = !TextAt(object, {"metadata", "deletionTimestamp"}).empty();
  if (errors.count() == 0 && !deleting) result.policy = std::move(policy);
  result.errors = errors.Take();
  result.ignored_fields = errors.TakeIgnored();
  return result;
}

}  // namespace firetower::k8s
