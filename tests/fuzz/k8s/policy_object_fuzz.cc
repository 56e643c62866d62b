// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "k8s/policy/object.h"
#include "k8s/policy/served.h"

// A policy object from an API server: whatever it contains, the result is a policy within its
// bounds or the reason why it is refused.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace k8s = firetower::k8s;
  k8s::FieldSet fields = k8s::PolicyObjectFields();
  for (const char* identity : {"name", "namespace", "uid", "resourceVersion"})
    fields.Keep({"metadata", identity});
  const auto node =
      k8s::ParseObject(std::string_view(reinterpret_cast<const char*>(data), size), fields);
  if (!node) return 0;
  for (const bool cluster : {false, true}) {
    const auto object = k8s::ReadPolicyObject(*node, cluster);
    if (!object) continue;
    CHECK(object->errors.empty() || !object->policy);
    CHECK(object->errors.size() <= k8s::kMaxErrorsPerDocument + 1);
    CHECK(object->ignored_fields.size() <= k8s::kMaxErrorsPerDocument);
    for (const k8s::PolicyError& error : object->errors) CHECK(!error.message.empty());
    if (!object->policy) continue;
    CHECK(object->policy->cluster == cluster);
    CHECK(object->policy->namespace_name.empty() == cluster);
    CHECK(object->policy->spec.priority >= 0 && object->policy->spec.priority <= 1000);
    k8s::Served(*object->policy);
  }
  return 0;
}
