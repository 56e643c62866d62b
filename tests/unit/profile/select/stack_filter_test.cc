// SPDX-License-Identifier: Apache-2.0
#include "profile/select/stack_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "profile/select/inverted.h"
#include "profile/top/callers.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Stacks = std::map<std::string, int64_t>;

// "root;…;leaf" and samples; inlined functions are frames of their own.
Stacks StacksOf(const Profile& profile) {
  Stacks stacks;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const Sample sample = profile.sample(i);
    std::string text;
    for (size_t at = sample.locations.size(); at-- > 0;) {
      const Location location = profile.location(sample.locations[at]);
      for (size_t line = std::max<size_t>(location.lines.size(), 1); line-- > 0;)
        text += (text.empty() ? "" : ";") + profile.FrameName(location, line);
    }
    stacks[text] += sample.values[0];
  }
  return stacks;
}

Stacks Filtered(const Profile& profile, const StackFilterTexts& texts) {
  const auto filter = StackFilter::Create(texts);
  EXPECT_TRUE(filter) << filter.error().message();
  return StacksOf(filter->Apply(profile));
}

// The example of pprof's ShowFrom, and two other stacks.
Profile Calls() {
  return StackBuilder()
      .Add({"A", "B", "C", "B"}, 1)
      .Add({"A", "D"}, 10)
      .Add({"A", "C", "E"}, 100)
      .Build();
}

Profile Labelled() {
  StackBuilder stacks;
  stacks.Add({"A", "B"}, 1, {{"trace_id", "4bf92f35"}, {"thread", "io-1"}})
      .Add({"A", "C"}, 10, {{"trace_id", "5c00"}, {"thread", "io-2"}, {"thread", "main"}})
      .Add({"A", "D"}, 100);
  const uint32_t leaf = stacks.Frame("E");
  const std::array<int64_t, 2> values{1000, 1000};
  const std::array labels{stacks.builder().NumberLabel("cpu", 12, "")};
  stacks.builder().AddSample({&leaf, 1}, values, labels);
  return stacks.Build();
}

TEST(StackFilter, TagFocusKeepsSamplesWithTheLabel) {
  const Stacks first = {{"A;B", 1}}, second = {{"A;C", 10}}, none;
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "trace_id=4bf92f35"}), first);
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "trace_id=bf9"}), first) << "any part of the value";
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "trace_id=^bf9"}), none);
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "thread=^main$"}), second) << "one of two labels";
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "thread=io-1,main"}),
            (Stacks{{"A;B", 1}, {"A;C", 10}}));
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "io,5c"}), second) << "each matches some label";
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "^thread:io-1$"}), first);
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "cpu=^12$"}), (Stacks{{"E", 1000}}));
  EXPECT_EQ(Filtered(Labelled(), {.tag_focus = "span_id=1"}), none);
}

TEST(StackFilter, TagIgnoreDropsSamplesWithTheLabel) {
  EXPECT_EQ(Filtered(Labelled(), {.tag_ignore = "trace_id=."}),
            (Stacks{{"A;D", 100}, {"E", 1000}}));
  EXPECT_EQ(Filtered(Labelled(), {.ignore = "B", .tag_focus = "thread=io"}), (Stacks{{"A;C", 10}}))
      << "beside a filter of frames";
}

TEST(StackFilter, RefusesATagThatIsNoExpression) {
  for (const StackFilterTexts& texts : {StackFilterTexts{.tag_focus = "thread=("},
                                        StackFilterTexts{.tag_focus = std::string(9000, 'a')}}) {
    const auto filter = StackFilter::Create(texts);
    ASSERT_FALSE(filter);
    EXPECT_THAT(filter.error().message(), HasSubstr("tagfocus"));
  }
}

TEST(StackFilter, FocusKeepsStacksWithTheFrame) {
  EXPECT_EQ(Filtered(Calls(), {.focus = "B"}), (Stacks{{"A;B;C;B", 1}}));
  EXPECT_EQ(Filtered(Calls(), {.focus = "^[CD]$"}),
            (Stacks{{"A;B;C;B", 1}, {"A;D", 10}, {"A;C;E", 100}}));
  EXPECT_EQ(Filtered(Calls(), {.focus = "Z"}), Stacks());
}

TEST(StackFilter, IgnoreDropsStacksWithTheFrame) {
  EXPECT_EQ(Filtered(Calls(), {.ignore = "C"}), (Stacks{{"A;D", 10}}));
  EXPECT_EQ(Filtered(Calls(), {.focus = "C", .ignore = "E"}), (Stacks{{"A;B;C;B", 1}}));
}

TEST(StackFilter, HideLeavesFramesOut) {
  EXPECT_EQ(Filtered(Calls(), {.hide = "[BC]"}), (Stacks{{"A", 1}, {"A;D", 10}, {"A;E", 100}}));
  // A hidden frame is still focused, and a stack without frames is dropped.
  EXPECT_EQ(Filtered(Calls(), {.focus = "D", .hide = "[AD]"}), Stacks());
  EXPECT_EQ(Filtered(Calls(), {.focus = "D", .hide = "D"}), (Stacks{{"A", 10}}));
}

TEST(StackFilter, ShowLeavesAllOthersOut) {
  EXPECT_EQ(Filtered(Calls(), {.show = "[BE]"}), (Stacks{{"B;B", 1}, {"E", 100}}));
}

TEST(StackFilter, ShowFromBeginsAtTheOutermostFrame) {
  EXPECT_EQ(Filtered(Calls(), {.show_from = "A"}), StacksOf(Calls()));
  EXPECT_EQ(Filtered(Calls(), {.show_from = "B"}), (Stacks{{"B;C;B", 1}}));
  EXPECT_EQ(Filtered(Calls(), {.show_from = "C"}), (Stacks{{"C;B", 1}, {"C;E", 100}}));
  EXPECT_EQ(Filtered(Calls(), {.show_from = "Z"}), Stacks());
}

TEST(StackFilter, GoesByTheBinaryToo) {
  EXPECT_EQ(Filtered(Calls(), {.focus = "/usr/bin/app"}), StacksOf(Calls()));
  EXPECT_EQ(Filtered(Calls(), {.hide = "bin/app"}), Stacks());
}

// main calls a location in which outer inlined inner.
Profile Inlined() {
  StackBuilder made;
  ProfileBuilder& builder = made.builder();
  const Line lines[] = {{.function = builder.AddFunction("inner", "", "inner.c")},
                        {.function = builder.AddFunction("outer", "", "outer.c")}};
  const uint32_t stack[] = {builder.AddLocation(made.mapping(), 0x400900, lines),
                            made.Frame("main")};
  const int64_t values[] = {5, 50};
  EXPECT_TRUE(builder.AddSample(stack, values));
  return made.Build();
}

TEST(StackFilter, TellsInlinedCallsApart) {
  EXPECT_EQ(Filtered(Inlined(), {.hide = "outer"}), (Stacks{{"main;inner", 5}}));
  EXPECT_EQ(Filtered(Inlined(), {.show_from = "outer"}), (Stacks{{"outer;inner", 5}}));
  EXPECT_EQ(Filtered(Inlined(), {.show_from = "inner"}), (Stacks{{"inner", 5}}));
  EXPECT_EQ(Filtered(Inlined(), {.focus = "inner\\.c"}), (Stacks{{"main;outer;inner", 5}}));
}

TEST(StackFilter, SaysWhatIsWrong) {
  const auto bad = StackFilter::Create({.ignore = "("});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(bad.error().message(), HasSubstr("ignore is not a regular expression"));
  EXPECT_FALSE(StackFilter::Create({.hide = std::string(9000, 'a')}));
  EXPECT_TRUE(StackFilter::Create({})->empty());
}

TEST(Inverted, GoesFromTheInnermostFunction) {
  EXPECT_EQ(StacksOf(Inverted(Calls())), (Stacks{{"B;C;B;A", 1}, {"D;A", 10}, {"E;C;A", 100}}));
  EXPECT_EQ(StacksOf(Inverted(Inlined())), (Stacks{{"inner;outer;main", 5}}));
  EXPECT_EQ(StacksOf(Inverted(Inverted(Inlined()))), StacksOf(Inlined()));
}

std::vector<std::string> TextOf(const std::vector<Neighbour>& neighbours) {
  std::vector<std::string> texts;
  for (const Neighbour& one : neighbours)
    texts.push_back(one.function + " " + std::to_string(one.value));
  return texts;
}

TEST(Peek, ShowsCallersAndCallees) {
  const auto peeked = Peek(Calls(), 0, "^C$");
  ASSERT_TRUE(peeked);
  EXPECT_EQ(peeked->total, 111);
  ASSERT_EQ(peeked->functions.size(), 1u);
  EXPECT_EQ(peeked->functions[0].self, 0);
  EXPECT_EQ(peeked->functions[0].total, 101);
  EXPECT_THAT(TextOf(peeked->functions[0].callers), ElementsAre("A 100", "B 1"));
  EXPECT_THAT(TextOf(peeked->functions[0].callees), ElementsAre("E 100", "B 1"));
}

TEST(Peek, CountsRecursionOnce) {
  const Profile profile = StackBuilder().Add({"main", "f", "f", "f"}, 7).Build();
  const auto peeked = Peek(profile, 0, "^f$");
  ASSERT_TRUE(peeked && peeked->functions.size() == 1);
  EXPECT_EQ(peeked->functions[0].self, 7);
  EXPECT_EQ(peeked->functions[0].total, 7);
  EXPECT_THAT(TextOf(peeked->functions[0].callers), ElementsAre("f 7", "main 7"));
  EXPECT_THAT(TextOf(peeked->functions[0].callees), ElementsAre("f 7"));
}

TEST(Peek, ListsTheLargestFunctionsFirst) {
  const auto all = Peek(Calls(), 0, ".", 2);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->functions.size(), 2u);
  EXPECT_EQ(all->functions[0].function, "A");
  EXPECT_EQ(all->functions[1].function, "C");
  EXPECT_FALSE(Peek(Calls(), 0, "("));
}

}  // namespace
}  // namespace firetower::profile
