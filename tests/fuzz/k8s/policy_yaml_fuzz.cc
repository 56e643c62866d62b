// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "k8s/document/yaml.h"
#include "k8s/policy/load.h"
#include "k8s/policy/served.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace k8s = firetower::k8s;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const k8s::PolicyFileResult result = k8s::ParsePolicies(text, "fuzz.yaml");
  CHECK(result.policies.size() <= k8s::kMaxYamlDocuments);
  for (const k8s::PolicyError& error : result.errors) {
    CHECK(!error.message.empty());
    CHECK(error.line >= 1);
    CHECK(static_cast<size_t>(error.line) <= size + 1);
  }
  for (const k8s::ProfilingPolicy& policy : result.policies) {
    CHECK(!policy.name.empty());
    CHECK(policy.spec.priority >= 0 && policy.spec.priority <= 1000);
    k8s::Served(policy);
  }
  return 0;
}
