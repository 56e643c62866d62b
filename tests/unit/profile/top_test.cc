// SPDX-License-Identifier: Apache-2.0
#include "profile/top.h"

#include <gtest/gtest.h>

#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;

TEST(Top, CountsSelfAndTotal) {
  Profile profile =
      StackBuilder().Add({"main", "a"}, 6).Add({"main", "a", "b"}, 3).Add({"main"}, 1).Build();
  TopResult top = Top(profile, 0);
  EXPECT_EQ(top.total, 10);
  ASSERT_EQ(top.rows.size(), 3u);
  EXPECT_EQ(top.rows[0].function, "a");
  EXPECT_EQ(top.rows[0].self, 6);
  EXPECT_EQ(top.rows[0].total, 9);
  EXPECT_DOUBLE_EQ(top.rows[0].self_percent, 60);
  EXPECT_DOUBLE_EQ(top.rows[0].total_percent, 90);
  EXPECT_EQ(top.rows[0].mapping, "/usr/bin/app");
  EXPECT_EQ(top.rows[2].function, "main");
  EXPECT_EQ(top.rows[2].total, 10);
}

TEST(Top, CountsRecursionOnce) {
  Profile profile = StackBuilder().Add({"f", "g", "f", "g", "f"}, 5).Build();
  TopResult top = Top(profile, 0);
  ASSERT_EQ(top.rows.size(), 2u);
  EXPECT_EQ(top.rows[0].function, "f");
  EXPECT_EQ(top.rows[0].self, 5);
  EXPECT_EQ(top.rows[0].total, 5);
  EXPECT_EQ(top.rows[1].total, 5);
}

TEST(Top, GivesTheInnermostInlinedFunctionTheSelfTime) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  Line lines[] = {{.function = builder.AddFunction("inlined", "", "")},
                  {.function = builder.AddFunction("host", "", "")}};
  uint32_t leaf = builder.AddLocation(stacks.mapping(), 0x400500, lines);
  int64_t values[] = {2, 2};
  builder.AddSample({&leaf, 1}, values);
  TopResult top = Top(stacks.Build(), 0);
  ASSERT_EQ(top.rows.size(), 2u);
  EXPECT_EQ(top.rows[0].function, "inlined");
  EXPECT_EQ(top.rows[0].self, 2);
  EXPECT_EQ(top.rows[1].self, 0);
  EXPECT_EQ(top.rows[1].total, 2);
}

TEST(Top, SaysHowManyTheLimitCut) {
  Profile profile = StackBuilder().Add({"a"}, 3).Add({"b"}, 2).Add({"c"}, 1).Build();
  TopResult top = Top(profile, 0, 2);
  EXPECT_EQ(top.rows.size(), 2u);
  EXPECT_EQ(top.functions, 3u);
}

}  // namespace
}  // namespace firetower::profile
