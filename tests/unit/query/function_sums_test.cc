// SPDX-License-Identifier: Apache-2.0
#include "query/top/function_sums.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/sample_profiles.h"

namespace firetower::query {
namespace {

using ::firetower::testing::StackBuilder;

// `main` calls a function that all containers have, and one of each container alone.
void Feed(FunctionSums& sums, int containers) {
  for (int i = 0; i < containers; ++i) {
    const std::string own = "own" + std::to_string(i);
    const profile::Profile profile =
        StackBuilder().Add({"main", "hot"}, 100).Add({"main", own}, 1).Build();
    sums.Add(profile, 0, "c" + std::to_string(i));
  }
}

TEST(FunctionSums, StaysSmallAndExact) {
  FunctionSums sums;
  Feed(sums, 300);
  const uint64_t bytes = sums.bytes();
  sums.Prune();
  EXPECT_LE(sums.bytes(), bytes / 2);
  ASSERT_TRUE(sums.needs_recount());
  EXPECT_EQ(sums.total(), 300 * 101);
  sums.Recount();
  EXPECT_FALSE(sums.needs_recount());
  Feed(sums, 300);
  EXPECT_EQ(sums.total(), 300 * 101);
  const auto top = sums.Top(2);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].function, "hot");
  EXPECT_EQ(top[0].self, 30'000);
  EXPECT_EQ(top[1].function, "main");
  EXPECT_EQ(top[1].total, 300 * 101);
  EXPECT_GE(sums.max_hidden(), 1);
  int64_t self = sums.other_self();
  for (const TopFunction& row : sums.Top(1000)) self += row.self;
  EXPECT_EQ(self, 300 * 101);
}

TEST(LineSums, AddUpLinesOfManyProfiles) {
  LineSums sums;
  for (int64_t container = 0; container < 3; ++container) {
    StackBuilder stacks;
    profile::ProfileBuilder& builder = stacks.builder();
    const uint32_t function = builder.AddFunction("serve", "", "/app.py");
    for (int64_t line = 1; line <= 2; ++line) {
      const profile::Line one{.function = function, .line = line};
      const uint32_t leaf =
          builder.AddLocation(stacks.mapping(), static_cast<uint64_t>(0x400500 + line), {&one, 1});
      const int64_t values[] = {line * 10, line * 10};
      builder.AddSample({&leaf, 1}, values);
    }
    sums.Add(stacks.Build(), 0, "c" + std::to_string(container));
  }
  const auto top = sums.Top(5);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].file, "/app.py");
  EXPECT_EQ(top[0].line, 2);
  EXPECT_EQ(top[0].self, 60);
  EXPECT_EQ(top[0].containers.size(), 3u);
  EXPECT_EQ(top[1].line, 1);
}

TEST(FunctionSums, NamesContainersAndCountsTheOthers) {
  FunctionSums sums;
  Feed(sums, 300);
  const TopFunction whole = sums.Top(1)[0];
  EXPECT_EQ(whole.containers.size(), 100u);
  EXPECT_EQ(whole.more_containers, 200);
  sums.Prune();
  const TopFunction pruned = sums.Top(1)[0];
  EXPECT_EQ(pruned.containers.size(), 16u) << "also where all of them have the same";
  EXPECT_EQ(pruned.more_containers, 284);
}

// All sums of an answer are fed again when one of them has to be.
TEST(FunctionSums, ARecountOfWhatWasWholeCountsOnce) {
  FunctionSums sums;
  Feed(sums, 3);
  EXPECT_FALSE(sums.needs_recount());
  sums.Recount();
  Feed(sums, 3);
  EXPECT_EQ(sums.total(), 303);
  EXPECT_EQ(sums.Top(1)[0].self, 300);
}

}  // namespace
}  // namespace firetower::query
