// SPDX-License-Identifier: Apache-2.0
// Tables of what is in use: of the last window of each container, and how much it has grown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/question.h"
#include "query/top/top.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::query {
namespace {

using ::firetower::testing::InUseAt;
using ::firetower::testing::kFirstWindow;

class TopInUse : public ::testing::Test {
 protected:
  TopInUse() {
    question_.range = {kFirstWindow * kNsPerSecond, (kFirstWindow + 600) * kNsPerSecond};
    question_.query.from_ns = question_.range.from_ns;
    question_.query.to_ns = question_.range.to_ns;
  }
  void Ask(std::string_view type) { SetType(*profile::ParseTypeSelection(type), question_); }

  testing::MemoryStore store_;
  Question question_;
  store::SkippedList skipped_;
  // One grows, one shrinks, and the third one has ended.
  std::vector<store::OpenProfile> open_ = {InUseAt("leaks", 0, 500),   InUseAt("leaks", 1, 1500),
                                           InUseAt("leaks", 3, 2500),  InUseAt("shrinks", 0, 900),
                                           InUseAt("shrinks", 3, 700), InUseAt("ended", 0, 5000)};
};

TEST_F(TopInUse, ShowsFunctionsWithTheirGrowth) {
  Ask("memory:inuse_space");
  const Result<TopReply> top = TopFunctions(store_, question_, open_, 10, &skipped_);
  ASSERT_TRUE(top) << top.error().message();
  ASSERT_EQ(top->functions.size(), 2u);
  EXPECT_EQ(top->functions[0].function, "leaks");
  EXPECT_EQ(top->functions[0].self, 2500);
  EXPECT_EQ(top->functions[0].growth, 2000);
  EXPECT_EQ(top->functions[1].self, 700);
  EXPECT_EQ(top->functions[1].growth, -200);
  EXPECT_EQ(top->total, 3200);
  EXPECT_EQ(top->unit, "bytes");
}

TEST_F(TopInUse, ShowsContainersByIt) {
  Ask("memory:inuse_space");
  const Result<TopReply> top = TopContainers(store_, question_, open_, 1, &skipped_);
  ASSERT_TRUE(top) << top.error().message();
  ASSERT_EQ(top->containers.size(), 1u);
  EXPECT_EQ(top->containers[0].container, "leaks");
  EXPECT_EQ(top->containers[0].value, 2500);
  EXPECT_EQ(top->containers[0].hottest_function, "leaks");
  EXPECT_EQ(top->total, 3200);
  EXPECT_EQ(top->total_rows, 2);
}

TEST_F(TopInUse, AddsUpWhatWasAllocated) {
  for (const char* type : {"memory", "memory:alloc_space"}) {
    Ask(type);
    const Result<TopReply> top = TopFunctions(store_, question_, open_, 10, &skipped_);
    ASSERT_TRUE(top) << top.error().message();
    EXPECT_EQ(top->total, 6000) << type;
    EXPECT_EQ(top->functions[0].growth, std::nullopt);
  }
}

}  // namespace
}  // namespace firetower::query
