// SPDX-License-Identifier: Apache-2.0
#include "query/top/top.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/memory_store.h"
#include "tests/support/sample_profiles.h"

namespace firetower::query {
namespace {

constexpr int64_t kStartNs = 1'782'900'000 * kNsPerSecond;

// A window of 10 s in which a node's container used two cores, told to start `late_ms` after the
// one before it ended.
store::OpenProfile Window(int index, int64_t late_ms, const char* node = "node-1") {
  store::OpenProfile open;
  open.profile =
      std::make_shared<profile::Profile>(testing::StackBuilder().Add({"main"}, 2'000).Build());
  open.row = {.namespace_name = "shop",
              .pod = "web-0",
              .container = "web",
              .node = node,
              .type = "cpu",
              .start_ns = kStartNs + index * 10 * kNsPerSecond + late_ms * kNsPerMs,
              .duration_ns = 10 * kNsPerSecond - late_ms * kNsPerMs,
              .samples = 2'000,
              .value = 20 * kNsPerSecond,
              .unit = "nanoseconds"};
  return open;
}

TopReply Top(const std::vector<store::OpenProfile>& open, int64_t seconds) {
  testing::MemoryStore store;
  Question question;
  question.range = {kStartNs, kStartNs + seconds * kNsPerSecond};
  question.query.type = profile::ParseProfileType("cpu").value();
  question.query.from_ns = question.range.from_ns;
  question.query.to_ns = question.range.to_ns;
  store::SkippedList skipped;
  return TopContainers(store, question, open, 10, &skipped).value();
}

// 60 windows of two cores each, on a machine that has two.
TEST(Top, HasNoMoreCoresThanWereUsed) {
  std::vector<store::OpenProfile> open;
  for (int i = 0; i < 60; ++i) open.push_back(Window(i, i % 3 * 100));
  const TopReply reply = Top(open, 600);
  EXPECT_NEAR(reply.containers.at(0).cores, 2.0, 0.5 / 100 * 2.0);
  EXPECT_NEAR(reply.observed_seconds, 600, 0.001);
}

// A profile and a table of the same range are of the same time.
TEST(Top, CoversWhatASumCovers) {
  std::vector<store::OpenProfile> open;
  for (int i = 0; i < 6; ++i) open.push_back(Window(i, i % 3 * 100));
  testing::MemoryStore store;
  store::Query query;
  query.from_ns = kStartNs;
  query.to_ns = kStartNs + 60 * kNsPerSecond;
  const auto merged = store::MergeProfiles(store, query, open);
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->observed_ns, 60 * kNsPerSecond);
  EXPECT_NEAR(Top(open, 60).observed_seconds, 60, 0.001);
}

// Neither a minute without a daemon nor what another node does in between is a late start.
TEST(Top, TakesNoHoleForObserved) {
  EXPECT_NEAR(Top({Window(0, 0), Window(6, 0)}, 70).observed_seconds, 20, 0.001);
  EXPECT_NEAR(Top({Window(0, 0), Window(1, 600)}, 20).observed_seconds, 19.4, 0.001);
  EXPECT_NEAR(Top({Window(0, 0), Window(1, 200, "node-2")}, 20).observed_seconds, 19.8, 0.001);
}

}  // namespace
}  // namespace firetower::query
