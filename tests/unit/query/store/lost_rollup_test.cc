// SPDX-License-Identifier: Apache-2.0
// Tables over an hour whose roll-ups cannot be read: its windows are there still, or are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "query/question.h"
#include "query/top/top.h"
#include "store/catalog/keeper/catalog_keeper.h"
#include "tests/unit/store/catalog/catalog_cluster.h"

namespace firetower::query {
namespace {

using ::firetower::testing::kHour;
using ::firetower::testing::MortalStore;
using ::firetower::testing::PutBundle;
using ::firetower::testing::PutWindows;
using ::testing::ElementsAre;

// An hour of two nodes with its roll-ups, catalogued. In each minute each node has 10 samples of
// web, 2 of sidecar and 5 of db, of 10 ms.
class LostRollUp : public ::testing::Test {
 protected:
  static constexpr int64_t kSampleNs = 10'000'000;

  LostRollUp() {
    PutWindows(store_, kHour, kHour + 3600);
    for (const char* node : {"node-1", "node-2"}) PutBundle(store_, node, kHour, 3600);
    const FakeClock clock{kNsPerSecond, (kHour + 3600 + 600) * kNsPerSecond};
    store::RecentRows recent;
    const Status looked = store::CatalogKeeper(store_, recent, clock).Look(/*leads=*/true);
    EXPECT_TRUE(looked) << looked.error().message();
    question_.query = testing::Ask("", kHour, kHour + 3600);
    question_.query.type = *profile::ParseProfileType("cpu");
    question_.range = {question_.query.from_ns, question_.query.to_ns};
  }
  void Lose(const std::function<bool(const store::BundleKey& key)>& is_lost) {
    for (auto& [key, bytes] : store_.objects) {
      const auto parsed = store::ParseBundleKey(key);
      // The directory, at its end, is whole.
      if (parsed && is_lost(*parsed)) std::fill_n(bytes.begin(), bytes.size() / 3, '!');
    }
  }
  Result<TopReply> Functions() { return TopFunctions(source_, question_, {}, 10, &skipped_); }
  Result<TopReply> Containers() { return TopContainers(source_, question_, {}, 10, &skipped_); }
  // "name: self" of each, in milliseconds.
  static std::vector<std::string> SelfOf(const Result<TopReply>& reply) {
    if (!reply) return {reply.error().message()};
    std::vector<std::string> rows;
    for (const TopFunction& one : reply->functions)
      rows.push_back(fmt::format("{}: {}", one.function, one.self / 1'000'000));
    return rows;
  }
  static std::vector<std::string> HottestOf(const Result<TopReply>& reply) {
    if (!reply) return {reply.error().message()};
    std::vector<std::string> rows;
    for (const TopContainer& one : reply->containers) {
      rows.push_back(fmt::format("{}/{}: {} {}", one.pod, one.container, one.hottest_function,
                                 one.hottest_percent));
    }
    return rows;
  }

  MortalStore store_;
  const store::CatalogIndex index_{store_, nullptr, {.max_listed_bundles = 0}};
  const store::ProfileSource source_{store_, &index_};
  Question question_;
  store::SkippedList skipped_;
};

TEST_F(LostRollUp, IsStoodForByItsWindows) {
  // The sums of 120 windows, 10 ms per sample.
  const auto functions = ElementsAre("web: 12000", "db: 6000", "sidecar: 2400", "main: 0");
  const auto containers =
      ElementsAre("cart-node-1/web: web 100", "cart-node-2/web: web 100", "db-node-1/db: db 100",
                  "db-node-2/db: db 100", "cart-node-1/sidecar: sidecar 100",
                  "cart-node-2/sidecar: sidecar 100");
  EXPECT_THAT(SelfOf(Functions()), functions);
  EXPECT_THAT(HottestOf(Containers()), containers);
  for (const auto& lost : {"node-1", ""}) {
    Lose([&](const store::BundleKey& key) {
      return key.rolled_up && (key.node == lost || *lost == '\0');
    });
    EXPECT_THAT(SelfOf(Functions()), functions) << lost;
    EXPECT_THAT(HottestOf(Containers()), containers) << lost;
  }
  EXPECT_EQ(Functions()->total, 2 * 60 * (10 + 2 + 5) * kSampleNs);
  EXPECT_EQ(skipped_.total, 0u);
}

// Half of the windows that the remaining roll-up replaces cannot be read.
TEST_F(LostRollUp, IsCountedWhereItsWindowsHoldLess) {
  Lose([](const store::BundleKey& key) {
    return key.rolled_up ? key.node == "node-2"
                         : key.node == "node-2" || key.start_s >= kHour + 1800;
  });
  EXPECT_THAT(SelfOf(Functions()), ElementsAre("web: 6000", "db: 3000", "sidecar: 1200", "main: 0"))
      << "of node-1's roll-up";
  EXPECT_EQ(skipped_.total, 3u);
  skipped_ = {};
  EXPECT_THAT(HottestOf(Containers()),
              ElementsAre("cart-node-1/web: web 100", "db-node-1/db: db 100",
                          "cart-node-1/sidecar: sidecar 100"))
      << "and nothing that only the index tells of";
  EXPECT_EQ(skipped_.total, 3u);
}

TEST_F(LostRollUp, IsToldWhereNothingElseIsLeft) {
  Lose([](const store::BundleKey&) { return true; });
  for (const bool by_functions : {true, false}) {
    const auto reply = by_functions ? Functions() : Containers();
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), ErrorCode::kUnavailable);
  }
}

}  // namespace
}  // namespace firetower::query
