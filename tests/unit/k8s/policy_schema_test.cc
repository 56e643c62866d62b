// SPDX-License-Identifier: Apache-2.0
// Compares the CRDs with the policy parser: every field, bound, default, choice and rule, in both
// directions. Also checks that crd/generate writes the committed files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "base/file.h"
#include "k8s/document/yaml.h"
#include "k8s/policy/describe.h"

namespace firetower::k8s {
namespace {

std::string Join(const Node& list) {
  std::string text;
  for (const Node& item : list.items) text += (text.empty() ? "" : ",") + item.text;
  return text;
}

std::string TypeOf(const Node& schema) {
  if (schema.Find("x-kubernetes-int-or-string") != nullptr) return "quantity";
  if (schema.Find("additionalProperties") != nullptr) return "map";
  return schema.Find("type")->text;
}

void Walk(const Node& schema, const std::string& path, FieldTable& table) {
  auto& field = table[path];
  field["type"] = TypeOf(schema);
  for (const auto& [key, attribute] : {std::pair{"minimum", "minimum"},
                                       {"maximum", "maximum"},
                                       {"minLength", "minLength"},
                                       {"maxLength", "maxLength"},
                                       {"pattern", "pattern"},
                                       {"minItems", "minItems"},
                                       {"maxItems", "maxItems"},
                                       {"maxProperties", "maxEntries"},
                                       {"x-kubernetes-list-type", "listType"},
                                       {"default", "default"}}) {
    if (const Node* value = schema.Find(key))
      field[attribute] = value->kind == NodeKind::kMap ? "{}" : value->text;
  }
  if (const Node* choices = schema.Find("enum")) field["enum"] = Join(*choices);
  if (const Node* keys = schema.Find("x-kubernetes-list-map-keys")) field["listKeys"] = Join(*keys);
  if (const Node* rules = schema.Find("x-kubernetes-validations")) {
    for (const Node& rule : rules->items) {
      const Node* at = rule.Find("fieldPath");
      field["rule " + rule.Find("message")->text] = at == nullptr ? "" : at->text;
    }
  }
  if (const Node* items = schema.Find("items")) Walk(*items, path + "[]", table);
  if (const Node* values = schema.Find("additionalProperties")) Walk(*values, path + "{}", table);
  if (const Node* properties = schema.Find("properties")) {
    for (const NodeEntry& entry : properties->entries)
      Walk(entry.value, path + "." + entry.key, table);
  }
  if (const Node* required = schema.Find("required")) {
    for (const Node& name : required->items) table[path + "." + name.text]["required"] = "true";
  }
}

Node RootSchemaOf(const std::string& plural) {
  const std::string file =
      std::string(FIRETOWER_SOURCE_DIR) + "/crd/firetower.dev_" + plural + ".yaml";
  const std::vector<YamlDocument> documents = ParseYaml(ReadFile(file).value());
  EXPECT_EQ(documents.size(), 1u);
  EXPECT_TRUE(documents[0].errors.empty()) << documents[0].errors.at(0).message;
  const Node& version = documents[0].root.Find("spec")->Find("versions")->items.at(0);
  return *version.Find("schema")->Find("openAPIV3Schema");
}

FieldTable SchemaOf(const std::string& plural) {
  FieldTable table;
  Walk(*RootSchemaOf(plural).Find("properties")->Find("spec"), "spec", table);
  return table;
}

// Every part of an object is bounded: etcd, watchers and the cost of rules rely on it.
void ExpectBounded(const Node& schema, const std::string& path) {
  const auto has = [&](const char* key) { return schema.Find(key) != nullptr; };
  const std::string type = TypeOf(schema);
  if (type == "string" || type == "quantity") {
    EXPECT_TRUE(has("maxLength") || has("enum")) << path;
  } else if (type == "integer") {
    EXPECT_TRUE(has("minimum") && has("maximum")) << path;
  } else if (type == "array") {
    EXPECT_TRUE(has("maxItems") && has("x-kubernetes-list-type")) << path;
    ExpectBounded(*schema.Find("items"), path + "[]");
  } else if (type == "map") {
    EXPECT_TRUE(has("maxProperties")) << path;
    ExpectBounded(*schema.Find("additionalProperties"), path + "{}");
  } else if (type == "object") {
    ASSERT_TRUE(has("properties")) << path;
    for (const NodeEntry& entry : schema.Find("properties")->entries)
      ExpectBounded(entry.value, path + "." + entry.key);
  } else {
    EXPECT_EQ(type, "boolean") << path;
  }
}

void ExpectSame(const FieldTable& parser, const FieldTable& schema) {
  for (const auto& [path, attributes] : schema) {
    const auto known = parser.find(path);
    if (known == parser.end()) {
      ADD_FAILURE() << "the parser does not know the schema's " << path;
    } else {
      EXPECT_EQ(known->second, attributes) << path;
    }
  }
  for (const auto& [path, attributes] : parser)
    EXPECT_TRUE(schema.contains(path)) << "the schema does not have the parser's " << path;
}

TEST(PolicySchema, EqualsTheParserForTheNamespacedKind) {
  const FieldTable schema = SchemaOf("profilingpolicies");
  EXPECT_GT(schema.size(), 80u);
  ExpectSame(DescribePolicy(false), schema);
}

TEST(PolicySchema, EqualsTheParserForTheClusterKind) {
  const FieldTable schema = SchemaOf("clusterprofilingpolicies");
  EXPECT_GT(schema.size(), SchemaOf("profilingpolicies").size());
  ExpectSame(DescribePolicy(true), schema);
}

TEST(PolicySchema, BoundsEveryFieldOfEveryKind) {
  for (const char* plural : {"profilingpolicies", "clusterprofilingpolicies", "profilingnodes"}) {
    const Node root = RootSchemaOf(plural);
    for (const NodeEntry& entry : root.Find("properties")->entries) {
      // The API server's own.
      if (entry.key == "apiVersion" || entry.key == "kind" || entry.key == "metadata") continue;
      ExpectBounded(entry.value, std::string(plural) + "." + entry.key);
    }
  }
}

TEST(PolicySchema, GeneratedFilesAreUpToDate) {
  const std::string log = ::testing::TempDir() + "/crd-generate.log";
  const std::string command =
      "python3 " FIRETOWER_SOURCE_DIR "/crd/generate --check >" + log + " 2>&1";
  const int status = std::system(command.c_str());
  if (WEXITSTATUS(status) == 77)
    GTEST_SKIP() << "PolicySchema.GeneratedFilesAreUpToDate: python3-yaml is not installed";
  if (WEXITSTATUS(status) == 127)
    GTEST_SKIP() << "PolicySchema.GeneratedFilesAreUpToDate: python3 is not installed";
  EXPECT_EQ(status, 0) << ReadFile(log).value_or("");
}

}  // namespace
}  // namespace firetower::k8s
