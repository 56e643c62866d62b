// SPDX-License-Identifier: Apache-2.0
#include "k8s/document/yaml.h"

#include <gtest/gtest.h>

namespace firetower::k8s {
namespace {

NodeKind Plain(const std::string& text) {
  return ParseYaml("a: " + text).at(0).root.Find("a")->kind;
}

// yaml.org's YAML 1.1 types against YAML 1.2's core schema.
TEST(Yaml, TakesScalarsThatEveryVersionReadsAlike) {
  for (const char* text : {"", "~", "null", "Null", "NULL"})
    EXPECT_EQ(Plain(text), NodeKind::kNull);
  for (const char* text : {"true", "false"}) EXPECT_EQ(Plain(text), NodeKind::kBool);
  for (const char* text : {"yes", "No", "ON", "off", "y", "True", "FALSE"})
    EXPECT_EQ(Plain(text), NodeKind::kLooseBool) << text;
  for (const char* text : {"0", "7", "-12", "300"}) EXPECT_EQ(Plain(text), NodeKind::kInteger);
  for (const char* text :
       {"010", "00", "0x1F", "0o17", "0b11", "1_000", "+5", "-0", "1:30", "-010"})
    EXPECT_EQ(Plain(text), NodeKind::kLooseNumber) << text;
  for (const char* text : {"1.5", "1e3", "-1E-2", ".5", "1.", ".inf", "-.inf", ".nan"})
    EXPECT_EQ(Plain(text), NodeKind::kFloat) << text;
  for (const char* text :
       {"a", "1a", "50m", "1Gi", "0-3,8", "1.2.3", "+", "e3", "yess", "'true'", "\"5\""})
    EXPECT_EQ(Plain(text), NodeKind::kString) << text;
}

TEST(Yaml, RemembersLinesAcrossDocuments) {
  const std::vector<YamlDocument> documents =
      ParseYaml("# note\n--- # first\na:\n  - b\n  - c: |\n      text\n...\n---\nd: 1\n");
  ASSERT_EQ(documents.size(), 2u);
  const Node& list = *documents[0].root.Find("a");
  EXPECT_EQ(documents[0].root.entries[0].line, 3);
  EXPECT_EQ(list.items.at(0).line, 4);
  EXPECT_EQ(list.items.at(1).entries.at(0).line, 5);
  EXPECT_EQ(list.items.at(1).Find("c")->text, "text\n");
  EXPECT_EQ(list.items.at(1).Find("c")->kind, NodeKind::kString);
  EXPECT_EQ(documents[1].root.entries.at(0).line, 9);
}

TEST(Yaml, ReadsADocumentOnTheMarkersLine) {
  const std::vector<YamlDocument> documents = ParseYaml("--- {a: 1}\n--- [b]\n");
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].root.Find("a")->text, "1");
  EXPECT_EQ(documents[1].root.items.at(0).text, "b");
}

TEST(Yaml, RefusesTextAfterTheDocument) {
  for (const char* text : {"{a: 1} {b: 2}", "[a]\n[b]", "a: 1\n]"})
    EXPECT_FALSE(ParseYaml(text).at(0).errors.empty()) << text;
}

// A file as people write them, cut anywhere: a tree or an error, and no line beyond the text.
TEST(Yaml, SurvivesTruncation) {
  const std::string text =
      "# c\nkey: \"q\\u00e9\\n\"\nlist:\n- {a: [1, 'x'], b: }\n- >-\n  folded\n  text\n? k\n: "
      "v\n---\nm: ~\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    for (const YamlDocument& document : ParseYaml(text.substr(0, length))) {
      for (const YamlError& error : document.errors) {
        EXPECT_FALSE(error.message.empty());
        EXPECT_GE(error.line, 1);
        EXPECT_LE(error.line, 12);
      }
    }
  }
}

}  // namespace
}  // namespace firetower::k8s
