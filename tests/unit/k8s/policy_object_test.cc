// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "k8s/policy/object.h"

namespace firetower::k8s {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Object as kube-apiserver 1.36 sends it, with defaults.
constexpr std::string_view kStored =
    R"({"apiVersion":"firetower.dev/v1alpha1","kind":"ProfilingPolicy","metadata":{)"
    R"("creationTimestamp":"2026-11-21T19:43:27Z","generation":3,"labels":{"team":"shop"},)"
    R"("managedFields":[{"apiVersion":"firetower.dev/v1alpha1","manager":"kubectl"}],)"
    R"("name":"checkout","namespace":"shop","resourceVersion":"214","uid":)"
    R"("5cbb2db7-0a26-4a0c-8e9d-6d6b4ff4b6a5"},"spec":{"export":{"metrics":{)"
    R"("mode":"TopFunctions","topFunctions":7},"objectStore":{"isolation":"Node",)"
    R"("mode":"Enabled","retentionClass":"Standard"}},"limits":{"cpu":1},"mode":"General",)"
    R"("priority":0,"profiles":[{"frequencyHertz":99,"type":"CPU"}],"stacks":"UserAndKernel",)"
    R"("suspend":false,"targets":{"podPercent":100,"workloadRefs":[{"kind":"Deployment",)"
    R"("name":"checkout"}]}},"status":{"observedGeneration":2}})";

Result<PolicyObject> Read(std::string_view json, bool cluster = false) {
  FieldSet fields = PolicyObjectFields();
  for (const char* identity : {"name", "namespace", "uid", "resourceVersion"})
    fields.Keep({"metadata", identity});
  Result<Node> node = ParseObject(json, fields);
  if (!node) return node.error();
  return ReadPolicyObject(*node, cluster);
}

std::string With(std::string_view part, std::string_view instead) {
  std::string json(kStored);
  const size_t at = json.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return json.replace(at, part.size(), instead);
}

TEST(PolicyObject, IsReadAsTheServerSendsIt) {
  const Result<PolicyObject> object = Read(kStored);
  ASSERT_TRUE(object) << object.error().message();
  EXPECT_THAT(object->errors, IsEmpty());
  EXPECT_THAT(object->ignored_fields, IsEmpty());
  ASSERT_TRUE(object->policy);
  const ProfilingPolicy& policy = *object->policy;
  EXPECT_EQ(DisplayName(policy), "ProfilingPolicy shop/checkout");
  EXPECT_EQ(policy.uid, "5cbb2db7-0a26-4a0c-8e9d-6d6b4ff4b6a5");
  EXPECT_EQ(policy.generation, 3);
  EXPECT_EQ(policy.created_ns, 1795290207 * kNsPerSecond);  // date -d 2026-11-21T19:43:27Z +%s
  EXPECT_EQ(policy.labels.at("team"), "shop");
  EXPECT_EQ(CpuFrequencyHertz(policy.spec), 99);
  EXPECT_EQ(policy.spec.limits->cpu.RoundedUp(), 1);
  EXPECT_EQ(policy.spec.export_spec.metrics.top_functions, 7);
}

TEST(PolicyObject, NamesTheFieldOfAnError) {
  const Result<PolicyObject> object = Read(With(R"("frequencyHertz":99)", R"("frequencyHertz":0)"));
  ASSERT_TRUE(object);
  EXPECT_FALSE(object->policy);
  EXPECT_EQ(object->generation, 3) << "what is refused is reported by its generation";
  ASSERT_EQ(object->errors.size(), 1u);
  EXPECT_EQ(object->errors[0].ToString(),
            "ProfilingPolicy shop/checkout: spec.profiles[0].frequencyHertz: must be from 1 to "
            "999, not 0");
}

// For a definition newer than this program, unknown fields are ignored, but an unknown value is
// refused.
TEST(PolicyObject, IgnoresNewFieldsAndRefusesNewValues) {
  const Result<PolicyObject> object = Read(With(
      R"("suspend":false)", R"("suspend":false,"colour":"red","filter":{"cpus":"0","nice":{}})"));
  ASSERT_TRUE(object);
  EXPECT_TRUE(object->policy);
  EXPECT_THAT(object->ignored_fields, ElementsAre("spec.filter.nice", "spec.colour"));

  const Result<PolicyObject> other = Read(With(R"("type":"CPU")", R"("type":"GPU")"));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->policy);
  ASSERT_FALSE(other->errors.empty());
  EXPECT_THAT(other->errors[0].ToString(), HasSubstr("spec.profiles[0].type: must be CPU"));
}

TEST(PolicyObject, OnItsWayOutHasNoPolicy) {
  const Result<PolicyObject> object = Read(
      With(R"("generation":3)", R"("generation":4,"deletionTimestamp":"2026-11-21T19:44:00Z")"));
  ASSERT_TRUE(object);
  EXPECT_FALSE(object->policy);
  EXPECT_THAT(object->errors, IsEmpty());
}

TEST(PolicyObject, IsNoneWithoutAnIdentity) {
  EXPECT_FALSE(Read("{}"));
  EXPECT_FALSE(Read(With(R"("name":"checkout",)", "")));
  EXPECT_FALSE(Read(With(R"("namespace":"shop",)", "")));
  EXPECT_FALSE(Read(kStored, true)) << "the cluster kind has no namespace";
  EXPECT_TRUE(Read(R"({"metadata":{"name":"n"}})", true));
}

TEST(PolicyObject, AnyKindOfValueAnywhereIsRefusedInWords) {
  for (const char* value : {"null", "[]", "{}", "1.5", "-1", "true", "\"\"", "[[1]]"}) {
    for (const char* part : {R"({"export")", R"("General")",
                             R"([{"frequencyHertz":99,"type":"CPU"}])", R"([{"kind":"Deployment",)",
                             "99", R"("CPU")", R"({"team":"shop"})", R"({"podPercent":100)"}) {
      std::string replacement = value;
      const std::string_view text = part;
      // The rest of an opened object or list stays behind: under a key of its own.
      if (text.starts_with("{") && !text.ends_with("}"))
        replacement = R"({"x":)" + replacement + "," + std::string(text.substr(1));
      if (text.starts_with("[{") && !text.ends_with("]"))
        replacement += R"(,"x":)" + std::string(text);
      const Result<PolicyObject> object = Read(With(part, replacement));
      if (!object) continue;
      EXPECT_NE(object->policy.has_value(), !object->errors.empty()) << part << " as " << value;
    }
  }
}

TEST(PolicyObject, EveryPrefixIsRefused) {
  for (size_t size = 0; size < kStored.size(); ++size)
    ASSERT_FALSE(Read(kStored.substr(0, size))) << size;
}

}  // namespace
}  // namespace firetower::k8s
