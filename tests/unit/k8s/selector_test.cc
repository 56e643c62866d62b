// SPDX-License-Identifier: Apache-2.0
// Expectations from k8s.io/apimachinery's labels package: Requirement.Matches, NewRequirement,
// LabelSelectorAsSelector (nil selects nothing, empty everything).
#include "k8s/selector.h"

#include <gtest/gtest.h>

namespace firetower::k8s {
namespace {

using Op = SelectorOperator;

const Labels kPod = {{"app", "web"}, {"tier", ""}, {"example.com/env", "prod"}};

bool One(const std::string& key, Op op, std::vector<std::string> values = {}) {
  LabelSelector selector;
  selector.match_expressions = {{key, op, std::move(values)}};
  return Matches(selector, kPod);
}

TEST(Selector, MatchLabelsNeedsEveryPair) {
  LabelSelector selector;
  selector.match_labels = Labels{{"app", "web"}};
  EXPECT_TRUE(Matches(selector, kPod));
  selector.match_labels = Labels{{"app", "web"}, {"example.com/env", "prod"}};
  EXPECT_TRUE(Matches(selector, kPod));
  selector.match_labels = Labels{{"app", "web"}, {"zone", "a"}};
  EXPECT_FALSE(Matches(selector, kPod));
  selector.match_labels = Labels{{"app", "Web"}};
  EXPECT_FALSE(Matches(selector, kPod));
  selector.match_labels = Labels{{"tier", ""}};
  EXPECT_TRUE(Matches(selector, kPod));
  selector.match_labels = Labels{{"none", ""}};
  EXPECT_FALSE(Matches(selector, kPod)) << "an empty value is not an absent label";
}

TEST(Selector, OperatorsMeanWhatUpstreamMeans) {
  EXPECT_TRUE(One("app", Op::kIn, {"api", "web"}));
  EXPECT_FALSE(One("app", Op::kIn, {"api"}));
  EXPECT_FALSE(One("none", Op::kIn, {"api"}));
  EXPECT_TRUE(One("app", Op::kNotIn, {"api"}));
  EXPECT_FALSE(One("app", Op::kNotIn, {"api", "web"}));
  EXPECT_TRUE(One("none", Op::kNotIn, {"api"})) << "NotIn holds for an absent key";
  EXPECT_TRUE(One("tier", Op::kExists));
  EXPECT_FALSE(One("none", Op::kExists));
  EXPECT_FALSE(One("tier", Op::kDoesNotExist));
  EXPECT_TRUE(One("none", Op::kDoesNotExist));
  EXPECT_TRUE(One("tier", Op::kIn, {""}));
}

TEST(Selector, MembersAndExpressionsAllHold) {
  LabelSelector selector;
  selector.match_labels = Labels{{"app", "web"}};
  selector.match_expressions = {{"tier", Op::kExists, {}}, {"none", Op::kDoesNotExist, {}}};
  EXPECT_TRUE(Matches(selector, kPod));
  selector.match_expressions->push_back({"app", Op::kNotIn, {"web"}});
  EXPECT_FALSE(Matches(selector, kPod));
}

TEST(Selector, EmptyTakesAllAndNilNone) {
  EXPECT_TRUE(Matches(LabelSelector{}, kPod));
  EXPECT_TRUE(Matches(LabelSelector{}, Labels{}));
  EXPECT_TRUE(Matches(LabelSelector{Labels{}, std::vector<SelectorRequirement>{}}, Labels{}));
  EXPECT_TRUE(MatchesEverything(LabelSelector{Labels{}, std::nullopt}));
  EXPECT_FALSE(MatchesEverything(LabelSelector{Labels{{"a", "b"}}, std::nullopt}));
  EXPECT_FALSE(Matches(std::optional<LabelSelector>(), kPod));
  EXPECT_TRUE(Matches(std::optional<LabelSelector>(LabelSelector{}), kPod));
}

// The tables of k8s.io/apimachinery/pkg/util/validation.
TEST(Selector, ChecksTheSyntaxOfKeysAndValues) {
  for (const std::string& key :
       {std::string("simple"), std::string("now-with-dashes"), std::string("1-starts-with-num"),
        std::string("1234"), std::string("simple/simple"), std::string("now-with-dashes/simple"),
        std::string("now.with.dots/simple"), std::string("1-num.2-num/3-num"),
        std::string("Uppercase_Is_OK-123"), std::string("example.com/Uppercase"),
        std::string(63, 'a'), std::string(253, 'a') + "/" + std::string(63, 'b')})
    EXPECT_EQ(LabelKeyError(key), "") << key;
  for (const std::string& key :
       {std::string(), std::string("nospecialchars%^=@"), std::string("cantendwithadash-"),
        std::string("-cantstartwithadash-"), std::string("only/one/slash"),
        std::string("Example.com/abc"), std::string("example_com/abc"), std::string("example.com/"),
        std::string("/simple"), std::string(64, 'a'), std::string(254, 'a') + "/abc",
        std::string("a..b/c"), std::string("a.-b/c")})
    EXPECT_NE(LabelKeyError(key), "") << key;
  for (const std::string& value :
       {std::string(), std::string("simple"), std::string("1.2-a_B"), std::string(63, 'a')})
    EXPECT_EQ(LabelValueError(value), "") << value;
  for (const std::string& value : {std::string("a b"), std::string("-a"), std::string("a."),
                                   std::string("a/b"), std::string(64, 'a')})
    EXPECT_NE(LabelValueError(value), "") << value;
}

}  // namespace
}  // namespace firetower::k8s
