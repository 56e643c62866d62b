// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/diff.h"
#include "profile/export.h"
#include "profile/import.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  auto profile = DecodeFolded(text);
  return profile ? "no error" : profile.error().message();
}

TEST(FoldedDecode, ReadsRootFirstAndAddsUp) {
  auto profile = DecodeFolded("main;b 3\nmain;a;leaf with blanks 1\r\n\n  \nmain;b 4\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_THAT(profile->sample_types(), ElementsAre(ValueType{"samples", "count"}));
  ASSERT_EQ(profile->sample_count(), 2u);
  EXPECT_EQ(profile->Total(0), 8);
  Sample first = profile->sample(0);
  ASSERT_EQ(first.locations.size(), 2u);
  EXPECT_EQ(profile->FrameName(profile->location(first.locations[0]), 0), "b");
  EXPECT_EQ(profile->FrameName(profile->location(first.locations[1]), 0), "main");
  EXPECT_EQ(ToFolded(*profile, 0), "main;a;leaf with blanks 1\nmain;b 7\n");
}

TEST(FoldedDecode, TakesTwoCountsWhereEveryLineHasThem) {
  auto diff = DecodeFolded("main;a 10 4\nmain;b 0 7\n");
  ASSERT_TRUE(diff);
  EXPECT_THAT(diff->sample_types(),
              ElementsAre(ValueType{"before", "count"}, ValueType{"after", "count"}));
  EXPECT_EQ(diff->Total(0), 10);
  EXPECT_EQ(diff->Total(1), 11);
  // One name that ends in a number does not make two counts of all.
  auto names = DecodeFolded("main;worker 10 4\nmain;b 7\n");
  ASSERT_TRUE(names);
  EXPECT_EQ(ToFolded(*names, 0), "main;b 7\nmain;worker 10 4\n");
}

TEST(FoldedDecode, KeepsWhatTheAnnotationsSay) {
  constexpr std::string_view kText = "main;call_[i];read_[k] 3\nmain;jit_[j] 1\n";
  auto profile = DecodeFolded(kText);
  ASSERT_TRUE(profile);
  EXPECT_EQ(ToFolded(*profile, 0), "main;call;read 3\nmain;jit_[j] 1\n");
  EXPECT_EQ(ToFolded(*profile, 0, {.mark_kernel = true, .mark_inlined = true}), kText);
  Sample sample = profile->sample(0);
  ASSERT_EQ(sample.locations.size(), 2u);  // the inlined call lies inside main
  EXPECT_TRUE(profile->IsKernel(profile->location(sample.locations[0])));
  EXPECT_EQ(profile->location(sample.locations[1]).lines.size(), 2u);
}

TEST(FoldedDecode, TakesWholeNumbersHoweverWritten) {
  auto profile = DecodeFolded("a 3.000\nb -2\nc 9223372036854775807\n;;d; 1\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(ToFolded(*profile, 0), "a 3\nb -2\nc 9223372036854775807\nd 1\n");
}

TEST(FoldedDecode, SaysWhereItIsWrongAndWhatIsAllowed) {
  EXPECT_EQ(ErrorOf("main;a 1\nmain;b\n"),
            "folded line 2: not of the form 'root;…;leaf N': 'main;b'");
  EXPECT_THAT(ErrorOf("12\n"), HasSubstr("folded line 1"));
  EXPECT_THAT(ErrorOf("\na 0.5\n"), HasSubstr("folded line 2: the count is no whole number"));
  EXPECT_THAT(ErrorOf("a 9223372036854775808\n"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(ErrorOf("a 9223372036854775807\na 1\n"), HasSubstr("pass 2^63"));
}

TEST(FoldedDecode, PassesOverCommentsBeforeTheFirstStack) {
  auto profile = DecodeFolded("# made by hand\n\n# Count of: all\nmain;a 1\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(ToFolded(*profile, 0), "main;a 1\n");
  // Names may begin with the mark.
  auto name = DecodeFolded("# top\n#main;a 1\n#main 2\n");
  ASSERT_TRUE(name) << name.error().message();
  EXPECT_EQ(ToFolded(*name, 0), "#main 2\n#main;a 1\n");
  auto diff = DecodeFolded("# before after\nmain;a 10 4\n");
  ASSERT_TRUE(diff) << diff.error().message();
  EXPECT_EQ(diff->sample_types().size(), 2u);
  EXPECT_THAT(ErrorOf("main;a 1\n# late\n"), HasSubstr("folded line 2: not of the form"));
}

// Lines that end in \r alone are one to the reader, with one count.
TEST(FoldedDecode, RefusesLoneCarriageReturns) {
  for (const char* text : {"main;a 3\rmain;b 4\r", "main;a 3\rmain;b 4\n", "main;a 3\rmain;b 4",
                           "main;x 1\r\nmain;a 3\rmain;b 4\r\n"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("carriage return")) << text;
    EXPECT_THAT(ErrorOf(text), HasSubstr("`tr '\\r' '\\n' < FILE`")) << text;
    EXPECT_EQ(DecodeFolded(text).error().sys_errno(), kSaidByMessage) << text;
  }
}

TEST(FoldedDecode, HoldsItsLimits) {
  auto few = DecodeFolded("a 1\nb 1\nc 1\n", {.max_entries = 2});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code(), ErrorCode::kExhausted);
  auto small = DecodeFolded("a 1\nb 1\n", {.max_bytes = 7});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code(), ErrorCode::kExhausted);
}

TEST(FoldedDecode, EveryPrefixIsReadOrRefused) {
  constexpr std::string_view kText = "main;call_[i];read_[k] 30\nmain;b 12\n";
  for (size_t length = 0; length <= kText.size(); ++length) {
    auto profile = DecodeFolded(kText.substr(0, length));
    if (profile) {
      EXPECT_LE(profile->Total(0), 42) << length;
    }
  }
}

TEST(FoldedDiff, HasBothCountsOfEachStack) {
  Profile before = StackBuilder().Add({"main", "a"}, 10).Add({"main", "gone"}, 2).Build();
  Profile after = StackBuilder().Add({"main", "a"}, 4).Add({"main", "new"}, 7).Build();
  auto diff = Diff(before, after);
  ASSERT_TRUE(diff);
  EXPECT_EQ(ToFoldedDiff(*diff, 0), "main;a 10 4\nmain;gone 2 0\nmain;new 0 7\n");
}

TEST(FoldedDiff, ComesBackAsTwoSampleTypes) {
  Profile before = StackBuilder().Add({"main", "a"}, 10).Build();
  Profile after = StackBuilder().Add({"main", "b"}, 4).Build();
  auto diff = Diff(before, after);
  ASSERT_TRUE(diff);
  auto back = DecodeFolded(ToFoldedDiff(*diff, 0));
  ASSERT_TRUE(back);
  EXPECT_EQ(ToFolded(*back, 0), "main;a 10\n");
  EXPECT_EQ(ToFolded(*back, 1), "main;b 4\n");
}

// flamegraph.pl splits a line in the same way: one blank stands before the count.
TEST(DecodeFolded, KeepsBlanksOfNamesAndLeavesFramesOfBlanksOut) {
  const auto profile = DecodeFolded("main; a ;leaf   3\nmain;b;  4\nmain;  ;c 5\n  6\n");
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(ToFolded(*profile, 0), "[no stack] 6\nmain; a ;leaf   3\nmain;b 4\nmain;c 5\n");
  const auto diff = DecodeFolded("main;a  3 4\n");
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->string(diff->function(0).name), "a ");
}

}  // namespace
}  // namespace firetower::profile
