// SPDX-License-Identifier: Apache-2.0
#include "service/options/config_file.h"

#include <gtest/gtest.h>

namespace firetower::service {
namespace {

std::string ErrorOf(std::string_view yaml) {
  auto settings = ParseConfigFile(yaml, "f.yaml");
  return settings ? "no error" : settings.error().message();
}

constexpr std::string_view kValid =
    "# comment\n"
    "standalone: true\n"
    "listen: \"[::1]:7070\"\n"
    "sample-labels: [thread, comm]\n"
    "policy: >-\n"
    "  /etc/firetower\n";

TEST(ConfigFile, ReadsScalarsAndListsWithTheirLines) {
  auto settings = ParseConfigFile(kValid, "f.yaml");
  ASSERT_TRUE(settings) << settings.error().message();
  ASSERT_EQ(settings->size(), 4u);
  EXPECT_EQ((*settings)[0].key, "standalone");
  EXPECT_EQ((*settings)[0].value, "true");
  EXPECT_EQ((*settings)[0].line, 2);
  EXPECT_EQ((*settings)[1].value, "[::1]:7070");
  EXPECT_TRUE((*settings)[2].is_list);
  EXPECT_EQ((*settings)[2].value, "thread,comm");
  EXPECT_EQ((*settings)[3].value, "/etc/firetower");
}

TEST(ConfigFile, AcceptsNothing) {
  EXPECT_TRUE(ParseConfigFile("", "f.yaml")->empty());
  EXPECT_TRUE(ParseConfigFile("# only a comment\n", "f.yaml")->empty());
  EXPECT_TRUE(ParseConfigFile("---\n", "f.yaml")->empty());
}

TEST(ConfigFile, RefusesWhatIsNotAFlatMapping) {
  EXPECT_EQ(ErrorOf("- a\n- b\n"), "f.yaml:1: not a mapping; write one 'option: value' a line");
  EXPECT_EQ(ErrorOf("a: {b: c}\n"), "f.yaml:1: a: a mapping stands where a value is wanted");
  EXPECT_EQ(ErrorOf("a: 1\nb:\n"),
            "f.yaml:2: b: the value is missing; give one, or remove the line");
  EXPECT_EQ(ErrorOf("a: [[1]]\n"), "f.yaml:1: a: a list holds plain values");
  EXPECT_EQ(ErrorOf("a: 1\nb: 2\na: 3\n"), "f.yaml:3: the key \"a\" is given twice: keep one");
  EXPECT_NE(ErrorOf("a: 1\n---\nb: 2\n").find("a second document begins"), std::string::npos);
}

TEST(ConfigFile, NamesTheLineOfBrokenYaml) {
  EXPECT_EQ(ErrorOf("a: 1\nb: [1, 2\n").substr(0, 7), "f.yaml:");
  EXPECT_EQ(ErrorOf("a: 1\n\tb: 2\n"), "f.yaml:2: indented by a tab: YAML takes spaces only");
}

TEST(ConfigFile, RefusesALoneCommaInsteadOfReadingForEver) {
  EXPECT_EQ(ErrorOf(",").substr(0, 8), "f.yaml:1");
}

TEST(ConfigFile, EveryPrefixIsReadOrRefused) {
  for (size_t length = 0; length <= kValid.size(); ++length) {
    auto settings = ParseConfigFile(kValid.substr(0, length), "f.yaml");
    if (settings) {
      EXPECT_LE(settings->size(), 4u);
    }
  }
}

}  // namespace
}  // namespace firetower::service
