// SPDX-License-Identifier: Apache-2.0
// Expectations are those of Prometheus' own parser tests (promql/parser, model/labels).
#include "profile/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace firetower::profile {
namespace {

using ::testing::HasSubstr;
using Labels = std::map<std::string, std::string, std::less<>>;

bool Matches(std::string_view selector, const Labels& labels) {
  auto parsed = Selector::Parse(selector);
  EXPECT_TRUE(parsed) << selector << ": " << parsed.error().message();
  if (!parsed) return false;
  return parsed->Matches([&](std::string_view name) -> std::string_view {
    auto found = labels.find(name);
    return found == labels.end() ? std::string_view() : found->second;
  });
}
std::string ErrorOf(std::string_view selector) {
  auto parsed = Selector::Parse(selector);
  return parsed ? "no error" : parsed.error().message();
}

TEST(Selector, SelectsEverythingWhenEmpty) {
  for (const char* text : {"", "  ", "{}", " { } "}) EXPECT_TRUE(Matches(text, {{"a", "b"}}));
}

TEST(Selector, KnowsTheFourOperators) {
  Labels labels{{"namespace", "shop"}, {"container", "web"}};
  EXPECT_TRUE(Matches("{namespace=\"shop\"}", labels));
  EXPECT_FALSE(Matches("{namespace=\"sho\"}", labels));
  EXPECT_FALSE(Matches("{namespace!=\"shop\"}", labels));
  EXPECT_TRUE(Matches("{namespace!=\"x\"}", labels));
  EXPECT_TRUE(Matches("{container=~\"web|api\"}", labels));
  EXPECT_FALSE(Matches("{container!~\"web|api\"}", labels));
  EXPECT_TRUE(Matches("{namespace=\"shop\",container=~\"w.*\",}", labels));
  EXPECT_FALSE(Matches("{namespace=\"shop\",container=~\"x.*\"}", labels));
}

TEST(Selector, AnchorsRegularExpressions) {
  EXPECT_FALSE(Matches("{a=~\"b\"}", {{"a", "abc"}}));
  EXPECT_FALSE(Matches("{a=~\"a|b\"}", {{"a", "ab"}}));
  EXPECT_TRUE(Matches("{a=~\".*b.*\"}", {{"a", "abc"}}));
  EXPECT_TRUE(Matches("{a=~\"x.y\"}", {{"a", "x\ny"}}));  // Prometheus sets (?s)
}

TEST(Selector, TakesAnAbsentLabelForTheEmptyString) {
  EXPECT_TRUE(Matches("{pod=\"\"}", {}));
  EXPECT_FALSE(Matches("{pod!=\"\"}", {}));
  EXPECT_TRUE(Matches("{pod=~\".*\"}", {}));
  EXPECT_FALSE(Matches("{pod=~\".+\"}", {}));
  EXPECT_TRUE(Matches("{pod!~\".+\"}", {}));
}

TEST(Selector, ReadsTheThreeKindsOfString) {
  auto value = [](std::string_view text) {
    auto parsed = Selector::Parse(text);
    EXPECT_TRUE(parsed) << parsed.error().message();
    return parsed ? parsed->matchers().at(0).value() : "";
  };
  EXPECT_EQ(value(R"({a="b\"c\\d\n"})"), "b\"c\\d\n");
  EXPECT_EQ(value(R"({a='it\'s "x"'})"), "it's \"x\"");
  EXPECT_EQ(value(R"({a=`\n"'`})"), "\\n\"'");
  EXPECT_EQ(value(R"({a="\x41\101\u00e9\U0001F600"})"), "AA\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(value("{a=\"}\"}"), "}");
}

TEST(Selector, SetsTheNameFromAProfileType) {
  EXPECT_EQ(Selector::Parse("cpu{a=\"b\"}")->EqualTo("__name__"), "cpu");
  EXPECT_EQ(Selector::Parse("cpu")->EqualTo("__name__"), "cpu");
  EXPECT_EQ(Selector::Parse("event:page-faults{}")->EqualTo("__name__"), "event:page-faults");
  EXPECT_EQ(Selector::Parse("process_cpu:cpu:nanoseconds:cpu:nanoseconds{}")->EqualTo("__name__"),
            "cpu");
}

TEST(Selector, SaysWhereAndWhatIsExpected) {
  EXPECT_EQ(ErrorOf("{namespace=shop}"),
            "selector column 12: expected a quoted string, found shop");
  EXPECT_EQ(ErrorOf("{namespace}"), "selector column 11: expected one of = != =~ !~, found }");
  EXPECT_EQ(ErrorOf("{a=\"b\""), "selector column 7: expected ',' or '}', found the end");
  EXPECT_EQ(ErrorOf("{a=\"b\" c=\"d\"}"), "selector column 8: expected ',' or '}', found c");
  EXPECT_EQ(ErrorOf("{a=\"b\"} x"), "selector column 9: expected the end after '}', found x");
  EXPECT_EQ(ErrorOf("{,}"), "selector column 2: expected a label name or '}', found ,");
  EXPECT_EQ(ErrorOf("{1a=\"\"}"), "selector column 2: expected a label name or '}', found 1a");
  EXPECT_EQ(ErrorOf("{a=\"b}"), "selector column 7: the string is not closed");
  EXPECT_EQ(ErrorOf("{a=\"\\q\"}"), "selector column 5: unknown escape");
  EXPECT_EQ(ErrorOf("{a='\\\"'}"), "selector column 5: unknown escape");
  EXPECT_EQ(ErrorOf("(x)"), "selector column 1: expected '{' or a profile type, found (");
  EXPECT_THAT(ErrorOf("{a=~\"(\"}"),
              HasSubstr("selector column 5: regular expression \"(\": missing )"));
  EXPECT_THAT(ErrorOf("cpuu{}"),
              HasSubstr("selector column 1: unknown profile type 'cpuu'; did you mean 'cpu'?"));
}

TEST(Selector, BoundsItsInput) {
  EXPECT_THAT(ErrorOf(std::string(Selector::kMaxBytes + 1, ' ')), HasSubstr("at most 65536"));
  std::string many = "{";
  for (int i = 0; i < 65; ++i) many += "a=\"\",";
  EXPECT_THAT(ErrorOf(many + "}"), HasSubstr("more than 64 matchers"));
  EXPECT_THAT(ErrorOf("{a=~\"" + std::string(9000, 'x') + "\"}"), HasSubstr("at most 8192"));
}

TEST(Selector, NeverTakesAPrefixForTheWhole) {
  std::string text = R"({namespace="shop",container=~'a|b',pod!=`x`})";
  for (size_t length = 1; length < text.size(); ++length) {
    EXPECT_FALSE(Selector::Parse(text.substr(0, length))) << length;
  }
}

TEST(Selector, PrintsWhatParsesToTheSame) {
  auto first = Selector::Parse(R"(cpu{a="\x01\"\\",b!='c',d=~`e.*`,f!~"g"})");
  ASSERT_TRUE(first);
  auto second = Selector::Parse(first->ToString());
  ASSERT_TRUE(second) << first->ToString();
  EXPECT_EQ(second->ToString(), first->ToString());
  EXPECT_EQ(first->With(*Matcher::Create("z", MatchOp::kEqual, "1")).ToString(),
            R"({__name__="cpu",a="\x01\"\\",b!="c",d=~"e.*",f!~"g",z="1"})");
}

}  // namespace
}  // namespace firetower::profile
