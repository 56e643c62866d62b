// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace firetower::diagnosis {
namespace {

using ::testing::HasSubstr;

std::string Table(const std::string& signature) {
  return R"({"version": 1, "signatures": [)" + signature + "]}";
}

const std::string kGood =
    R"({"name": "own-lock", "types": ["cpu", "lock"], "stack": [["main"], ["lock*", "take"]],)"
    R"( "where": "user", "comms": ["web"], "at_least_percent": 5, "cause": "c", "next": "n",)"
    R"( "confirm": "f"})";

TEST(ParseSignatures, ReadsAll) {
  const auto table = ParseSignatures(Table(kGood));
  ASSERT_TRUE(table) << table.error().message();
  ASSERT_EQ(table->size(), 1u);
  const Signature& one = table->front();
  EXPECT_EQ(one.name, "own-lock");
  EXPECT_EQ(one.types, (std::vector<std::string>{"cpu", "lock"}));
  EXPECT_EQ(one.stack, (std::vector<std::vector<std::string>>{{"main"}, {"lock*", "take"}}));
  EXPECT_EQ(one.where, Where::kUser);
  EXPECT_EQ(one.at_least_percent, 5);
  EXPECT_EQ(one.confirm, "f");
}

TEST(ParseSignatures, SaysWhatIsWrongAndWhere) {
  const std::pair<std::string, const char*> kCases[] = {
      {"", "parse error"},
      {"[]", "\"version\" and \"signatures\""},
      {R"({"version": 2, "signatures": []})", "\"version\" is not 1"},
      {Table("3"), "signature 1: it is no object"},
      {Table(R"({"name": "Own"})"), "signature Own: \"name\" is 'Own': it must be of a-z"},
      {Table(R"({"name": "x", "stak": []})"), "signature x: it has an unknown member \"stak\""},
      {Table(R"({"name": "x", "types": ["gpu"]})"), "\"types\" has 'gpu': it must be cpu"},
      {Table(R"({"name": "x", "stack": []})"), "\"stack\" is not a list of 1 to 8 steps"},
      {Table(R"({"name": "x", "stack": [[""]]})"), "\"stack\" has something that is not a text"},
      {Table(R"({"name": "x", "stack": [["f"]], "where": "moon"})"), "\"where\" is 'moon'"},
      {Table(R"({"name": "x", "stack": [["f"]], "at_least_percent": 0})"), "above 0"},
      {Table(R"({"name": "x", "stack": [["f"]], "at_least_percent": 5, "cause": ""})"),
       "\"cause\" is not a text"},
      {Table(R"({"name": "x", "stack": [["f"]], "at_least_percent": 5, "cause": "c"})"), "'next'"},
      {Table(kGood + "," + kGood), "signature own-lock: there are two of that name"},
  };
  for (const auto& [text, what] : kCases) {
    const auto table = ParseSignatures(text);
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().code(), ErrorCode::kInvalid);
    EXPECT_THAT(table.error().message(), HasSubstr(what)) << text;
  }
  EXPECT_FALSE(ParseSignatures(std::string(100'000, ' ')));
}

TEST(ParseSignatures, RefusesEachPartOfATable) {
  const std::string whole = Table(kGood);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(ParseSignatures(whole.substr(0, size))) << size;
}

TEST(BuiltInSignatures, AreAtLeastFortyAndHaveTheCasesThatBeganIt) {
  std::set<std::string> names;
  for (const Signature& one : BuiltInSignatures()) names.insert(one.name);
  EXPECT_GE(names.size(), 40u);
  for (const char* one : {"kernel-spin-lock", "packet-filter-rules", "process-spawning",
                          "tracing-left-on", "memory-reclaim", "cpuinfo-reads"})
    EXPECT_TRUE(names.contains(one)) << one;
}

TEST(MatchesPattern, TakesStarsForAnyCharacters) {
  EXPECT_TRUE(MatchesPattern("malloc", "malloc"));
  EXPECT_FALSE(MatchesPattern("malloc", "malloc2"));
  EXPECT_TRUE(MatchesPattern("operator new*", "operator new[](unsigned long)"));
  EXPECT_TRUE(MatchesPattern("*Json*Parser*", "com.JsonStreamParser.next"));
  EXPECT_FALSE(MatchesPattern("*Json*Parser", "com.JsonStreamParser.next"));
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_FALSE(MatchesPattern("", "f"));
  EXPECT_TRUE(MatchesPattern("a**b", "axxab"));
  // It ends soon for what a simple search would take years for.
  EXPECT_FALSE(MatchesPattern("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace firetower::diagnosis
