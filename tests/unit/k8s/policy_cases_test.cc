// SPDX-License-Identifier: Apache-2.0
// tests/testdata/policies/cases.yaml, asked of the file parser. Every case applies to it: those
// about fields that an API server would prune ("podSelector, a typo that is pruned to {}",
// "nodeSelector pruned typo", "pid namespaced", "hostProcesses in the namespaced kind") are refused
// here as unknown fields. What only an API server can judge is not among them: the cost of the CEL
// rules, pruning itself, defaults in stored objects, and the status subresource.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/file.h"
#include "k8s/document/yaml.h"
#include "k8s/policy/describe.h"
#include "k8s/policy/load.h"
#include "k8s/policy/object.h"
#include "k8s/policy/served.h"
#include "tests/support/command.h"

namespace firetower::k8s {
namespace {

std::vector<Node> Cases() {
  const std::string file = FIRETOWER_SOURCE_DIR "/tests/testdata/policies/cases.yaml";
  const std::vector<YamlDocument> documents = ParseYaml(ReadFile(file).value());
  EXPECT_EQ(documents.size(), 1u);
  EXPECT_TRUE(documents.at(0).errors.empty());
  return documents.at(0).root.items;
}

Node String(const std::string& text) {
  Node node;
  node.kind = NodeKind::kString;
  node.text = text;
  return node;
}

Node Document(const Node& one) {
  const Node* name = one.Find("policyName");
  Node metadata;
  metadata.kind = NodeKind::kMap;
  metadata.entries.push_back({"name", 0, String(name == nullptr ? "case" : name->text)});
  Node document;
  document.kind = NodeKind::kMap;
  document.entries.push_back({"apiVersion", 0, String("firetower.dev/v1alpha1")});
  document.entries.push_back(
      {"kind", 0,
       String(one.Find("cluster") == nullptr ? "ProfilingPolicy" : "ClusterProfilingPolicy")});
  document.entries.push_back({"metadata", 0, std::move(metadata)});
  document.entries.push_back({"spec", one.Find("spec")->line, *one.Find("spec")});
  return document;
}

TEST(PolicyCases, AreAcceptedAndRefusedAsTheyMustBe) {
  size_t accepted = 0;
  size_t refused = 0;
  for (const Node& one : Cases()) {
    const PolicyFileResult result = ParsePolicy(Document(one), "cases.yaml");
    std::vector<std::string> messages;
    for (const PolicyError& error : result.errors) messages.push_back(error.message);
    SCOPED_TRACE(one.Find("name")->text);
    const Node* expected = one.Find("refused");
    if (expected == nullptr) {
      EXPECT_EQ(messages, std::vector<std::string>{});
      EXPECT_EQ(result.policies.size(), 1u);
      ++accepted;
      continue;
    }
    EXPECT_TRUE(result.policies.empty());
    EXPECT_FALSE(messages.empty());
    if (expected->text != "schema") {
      EXPECT_THAT(messages, ::testing::Contains(expected->text));
    }
    ++refused;
  }
  EXPECT_GE(accepted, 25u);
  EXPECT_GE(refused, 50u);
}

// The same cases as objects: fields that a server would have pruned are ignored, and a rule still
// refuses them.
TEST(PolicyCases, AreJudgedAlikeAsObjects) {
  for (const Node& one : Cases()) {
    SCOPED_TRACE(one.Find("name")->text);
    Node document = Document(one);
    const bool cluster = one.Find("cluster") != nullptr;
    Node& metadata = document.entries[2].value;
    if (!cluster) metadata.entries.push_back({"namespace", 0, String("default")});
    const Result<PolicyObject> object = ReadPolicyObject(document, cluster);
    ASSERT_TRUE(object) << object.error().message();
    if (one.Find("name")->text == "hostProcesses in the namespaced kind") {
      EXPECT_THAT(object->ignored_fields, ::testing::ElementsAre("spec.targets.hostProcesses"));
      continue;
    }
    EXPECT_EQ(object->policy.has_value(), one.Find("refused") == nullptr);
    EXPECT_EQ(object->errors.empty(), one.Find("refused") == nullptr);
  }
}

TEST(PolicyCases, HaveARefusalForEveryRule) {
  std::set<std::string> messages = {
      "metadata.name must be at most 63 characters: it becomes the value of a label"};
  for (const bool cluster : {false, true}) {
    for (const auto& [path, attributes] : DescribePolicy(cluster)) {
      for (const auto& [key, value] : attributes) {
        if (key.starts_with("rule ")) messages.insert(key.substr(5));
      }
    }
  }
  EXPECT_GT(messages.size(), 25u);
  for (const Node& one : Cases()) {
    if (const Node* refused = one.Find("refused")) messages.erase(refused->text);
  }
  EXPECT_THAT(messages, ::testing::IsEmpty());
}

// The nodes at "spec.profiles[].events[]" of an object, a list's entries each.
std::vector<const Node*> NodesAt(const Node& spec, std::string_view path) {
  std::vector<const Node*> at = {&spec};
  path.remove_prefix(std::string_view("spec").size());
  while (!path.empty()) {
    path.remove_prefix(1);
    std::string_view step = path.substr(0, path.find('.'));
    path.remove_prefix(step.size());
    const bool entries = step.ends_with("[]");
    if (entries) step.remove_suffix(2);
    std::vector<const Node*> below;
    for (const Node* node : at) {
      const Node* field = node->Find(step);
      if (field == nullptr) continue;
      if (!entries) below.push_back(field);
      for (const Node& item : field->items) below.push_back(&item);
    }
    at = std::move(below);
  }
  return at;
}

// Each rule was checked with its fields, and held.
TEST(PolicyCases, HaveAnAcceptanceForEveryRule) {
  const std::vector<Node> cases = Cases();
  for (const bool cluster : {false, true}) {
    for (const auto& [path, attributes] : DescribePolicy(cluster)) {
      for (const auto& [key, about] : attributes) {
        if (!key.starts_with("rule ")) continue;
        bool accepted = false;
        for (const Node& one : cases) {
          if (one.Find("refused") != nullptr) continue;
          // The cluster kind accepts all that the namespaced kind accepts.
          if (!cluster && one.Find("cluster") != nullptr) continue;
          for (const Node* node : NodesAt(*one.Find("spec"), path))
            accepted |= about.empty() || node->Find(about.substr(1)) != nullptr;
        }
        EXPECT_TRUE(accepted) << path << ": " << key;
      }
    }
  }
}

TEST(PolicyCases, ExamplesAreValid) {
  const PolicyFileResult result = LoadPolicies(FIRETOWER_SOURCE_DIR "/docs/examples");
  for (const PolicyError& error : result.errors) ADD_FAILURE() << error.ToString();
  EXPECT_GE(result.policies.size(), 5u);
  for (const ProfilingPolicy& policy : result.policies) {
    EXPECT_TRUE(Served(policy).served) << DisplayName(policy);
  }
}

// The text between the lines ```yaml and ```, example by example.
std::vector<std::string> YamlOf(const std::string& page) {
  std::vector<std::string> examples;
  std::istringstream lines(page);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```yaml") examples.emplace_back();
    if (line.starts_with("```")) {
      inside = line == "```yaml";
    } else if (inside) {
      examples.back() += line + "\n";
    }
  }
  return examples;
}

// Whether the page shows that nothing of an example is served by this version.
bool ShowsAsUnserved(const std::string& page, const std::string& name) {
  const size_t asked = page.find("$ kubectl -n shop get pfp " + name + " -o ");
  if (asked == std::string::npos) return false;
  return page.substr(asked, page.find("```", asked) - asked).find("\nUnsupportedProfileType\n") !=
         std::string::npos;
}

// A person copies one from the page into a file, for --policy.
TEST(PolicyCases, ExamplesOfThePageAreValid) {
  const std::string page = ReadFile(FIRETOWER_SOURCE_DIR "/docs/policies.md").value();
  const std::vector<std::string> examples = YamlOf(page);
  EXPECT_GE(examples.size(), 10u);
  ::firetower::testing::ScratchFolder folder;
  const std::string file = folder.path() + "/policy.yaml";
  std::set<std::string> names;
  for (const std::string& example : examples) {
    ASSERT_TRUE(WriteFileAtomic(file, example));
    const PolicyFileResult result = LoadPolicies(file);
    for (const PolicyError& error : result.errors)
      ADD_FAILURE() << error.ToString() << "\n" << example;
    EXPECT_GE(result.policies.size(), 1u) << example;
    for (const ProfilingPolicy& policy : result.policies) {
      EXPECT_EQ(Served(policy).served, !ShowsAsUnserved(page, policy.name)) << DisplayName(policy);
      EXPECT_TRUE(names.insert(DisplayName(policy)).second)
          << DisplayName(policy) << " is on the page twice";
    }
  }
}

}  // namespace
}  // namespace firetower::k8s
