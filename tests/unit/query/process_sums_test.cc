// SPDX-License-Identifier: Apache-2.0
#include "query/top/process_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/sample_profiles.h"

namespace firetower::query {
namespace {

using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;

const ContainerKey kWeb = {"shop", "web-0", "web"};

TEST(ProcessSums, AddsUpByContainerAndName) {
  ProcessSums sums;
  sums.Add(StackBuilder()
               .Add({"main", "a"}, 6, {{"comm", "web"}})
               .Add({"main", "b"}, 3, {{"comm", "web"}, {"thread", "pool"}})
               .Add({"main", "a"}, 2, {{"comm", "sh"}})
               .Build(),
           0, kWeb);
  // Another window, in which functions have other addresses.
  sums.Add(StackBuilder().Add({"b"}, 1).Add({"main", "b"}, 4, {{"comm", "web"}}).Build(), 0, kWeb);
  sums.Add(StackBuilder().Add({"main"}, 5, {{"comm", "web"}}).Build(), 0, {"shop", "web-1", "web"});
  EXPECT_EQ(sums.total(), 21);
  EXPECT_EQ(sums.processes(), 4u);
  const auto top = sums.Top(2);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].pod, "web-0");
  EXPECT_EQ(top[0].process, "web");
  EXPECT_EQ(top[0].value, 13);
  EXPECT_EQ(top[0].samples, 13);
  EXPECT_NEAR(top[0].share_percent, 100.0 * 13 / 21, 1e-9);
  EXPECT_THAT(top[0].hottest_stack, ElementsAre("main", "b"));
  EXPECT_NEAR(top[0].hottest_percent, 100.0 * 7 / 13, 1e-9);
  EXPECT_EQ(top[1].pod, "web-1");
}

TEST(TraceSums, CountsWhatHasNoTraceInTheTotalAlone) {
  TraceSums sums;
  sums.Add(StackBuilder()
               .Add({"main", "a"}, 6, {{"trace_id", "4b"}, {"span_id", "1"}})
               .Add({"main", "b"}, 3, {{"trace_id", "4b"}, {"span_id", "2"}})
               .Add({"main", "a"}, 2, {{"trace_id", "5c"}})
               .Add({"main", "idle"}, 9, {{"comm", "web"}})
               .Build(),
           0, kWeb);
  EXPECT_EQ(sums.total(), 20);
  const auto top = sums.Top(9);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].process, "4b");
  EXPECT_EQ(top[0].value, 9);
  EXPECT_NEAR(top[0].share_percent, 45, 1e-9);
  EXPECT_THAT(top[0].hottest_stack, ElementsAre("main", "a"));
  EXPECT_EQ(top[1].process, "5c");
}

// One process with 100 stacks, of 1 to 100, and 99 others with one each, of 1 to 99.
void Feed(ProcessSums& sums) {
  StackBuilder stacks;
  for (int i = 1; i <= 100; ++i) {
    const std::string own = "own" + std::to_string(i), other = "other" + std::to_string(i);
    stacks.Add({"main", own}, i, {{"comm", "web"}});
    if (i < 100) stacks.Add({"main"}, i, {{"comm", other}});
  }
  sums.Add(stacks.Build(), 0, kWeb);
}

TEST(ProcessSums, StaysSmallAndExact) {
  ProcessSums sums;
  Feed(sums);
  EXPECT_FALSE(sums.needs_recount());
  const uint64_t bytes = sums.bytes();
  for (int i = 0; i < 3; ++i) sums.Prune();
  EXPECT_LE(sums.bytes(), bytes / 8);
  EXPECT_LT(sums.processes(), 100u);
  EXPECT_GE(sums.max_hidden(), 1);
  EXPECT_EQ(sums.total(), 5050 + 4950);
  ASSERT_TRUE(sums.needs_recount());
  sums.Recount();
  EXPECT_FALSE(sums.needs_recount());
  Feed(sums);
  EXPECT_EQ(sums.total(), 5050 + 4950);
  const auto top = sums.Top(2);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].process, "web");
  EXPECT_EQ(top[0].value, 5050);
  EXPECT_THAT(top[0].hottest_stack, ElementsAre("main", "own100"));
  EXPECT_NEAR(top[0].hottest_percent, 100.0 * 100 / 5050, 1e-9);
  EXPECT_EQ(top[1].process, "other99");
  EXPECT_EQ(top[1].value, 99);
}

}  // namespace
}  // namespace firetower::query
