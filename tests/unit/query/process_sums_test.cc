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

TEST(ProcessSums, DropsSmallStacksAndStaysExact) {
  ProcessSums sums;
  StackBuilder stacks;
  for (int i = 0; i < 100; ++i) {
    const std::string own = "own" + std::to_string(i);
    stacks.Add({"main", own}, i + 1, {{"comm", "web"}});
  }
  sums.Add(stacks.Build(), 0, kWeb);
  const uint64_t bytes = sums.bytes();
  sums.Prune();
  EXPECT_LT(sums.bytes(), bytes * 6 / 10);
  EXPECT_GT(sums.bytes(), 0u);
  const auto top = sums.Top(1);
  EXPECT_EQ(top.at(0).value, 5050);
  EXPECT_THAT(top.at(0).hottest_stack, ElementsAre("main", "own99"));
  for (int i = 0; i < 20; ++i) sums.Prune();
  EXPECT_EQ(sums.bytes(), 0u);
  EXPECT_EQ(sums.Top(1).at(0).value, 5050);
}

}  // namespace
}  // namespace firetower::query
