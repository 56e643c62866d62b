// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>

#include "store/access/metered_store.h"
#include "store/capture.h"
#include "store/catalog/catalog_set.h"
#include "store/catalog/keeper/catalog_keeper.h"
#include "store/profiles/newest.h"
#include "store/profiles/stored_profile.h"
#include "tests/unit/store/catalog/catalog_cluster.h"

namespace firetower::store {
namespace {

using ::firetower::testing::Ask;
using ::firetower::testing::FoldedOf;
using ::firetower::testing::kHour;
using ::firetower::testing::MortalStore;
using ::firetower::testing::PutBundle;
using ::firetower::testing::PutWindows;
using ::firetower::testing::RowsFound;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> IdsFound(const ProfileSource& source, const Query& query) {
  std::vector<std::string> ids;
  const Result<NewestProfiles> found = ListNewest(source, query, 1000);
  for (const ListedProfile& one : found->profiles) {
    ids.push_back(one.id);
    EXPECT_TRUE(StoredProfileId::Parse(one.id)) << one.id;
  }
  return ids;
}

class CatalogIndexTest : public ::testing::Test {
 protected:
  void Look(int64_t unix_s) {
    clock_.Advance(unix_s * kNsPerSecond - clock_.WallNs());
    const Status looked = keeper_.Look(true);
    ASSERT_TRUE(looked) << looked.error().message();
  }
  // Two hours of windows and their roll-ups.
  void PutTwoHours() {
    PutWindows(store_, kHour, kHour + 7200);
    for (const char* node : {"node-1", "node-2"}) {
      for (int64_t at = kHour; at < kHour + 7200; at += 600) PutBundle(store_, node, at, 600);
      for (int64_t at = kHour; at < kHour + 7200; at += 3600) PutBundle(store_, node, at, 3600);
    }
  }
  void Finish() {
    clock_.Advance((kHour + 20'000) * kNsPerSecond - clock_.WallNs());
    const Status rebuilt = keeper_.Rebuild(kHour, kHour + 7200);
    ASSERT_TRUE(rebuilt) << rebuilt.error().message();
  }
  void ExpectAnswersOfAWalk(const CatalogIndex& index) {
    constexpr std::pair<int64_t, int64_t> kTimes[] = {{0, 7200},    {0, 3600},   {600, 4200},
                                                      {1830, 1831}, {570, 1230}, {3590, 3610},
                                                      {7199, 9000}, {-500, 0}};
    const ProfileSource source(store_, &index);
    for (const char* selector :
         {"", "{namespace=\"shop\"}", "{namespace=\"shop\",workload=\"cart\"}",
          "{pod=\"cart-node-2\"}", "{namespace=\"shop\",workload=\"cart\",pod=\"cart-node-1\"}",
          "{workload=\"db\"}", "{namespace=\"shop\",workload=\"db\"}", "{container=~\"web|db\"}",
          "{pod=\"nobody\"}", "offcpu{}", "{node!=\"node-1\"}"}) {
      for (const auto& [from, to] : kTimes) {
        const Query query = Ask(selector, kHour + from, kHour + to);
        const std::string name = fmt::format("{} from {} to {}", selector, from, to);
        // The bundles stay as they are.
        auto& [rows, ids, folded] = walked_[name];
        if (folded.empty()) {
          rows = RowsFound(store_, query);
          ids = IdsFound(store_, query);
          folded = FoldedOf(store_, query) + "\n";
        }
        EXPECT_EQ(RowsFound(source, query), rows) << name;
        EXPECT_EQ(IdsFound(source, query), ids) << name;
        EXPECT_EQ(FoldedOf(source, query) + "\n", folded) << name;
      }
    }
  }

  MortalStore store_;
  FakeClock clock_{kNsPerSecond, 0};
  RecentRows recent_;
  CatalogKeeper keeper_{store_, recent_, clock_};
  struct Walked {
    std::vector<std::string> rows;
    std::vector<std::string> ids;
    std::string folded;
  };
  std::map<std::string, Walked> walked_;
};

TEST_F(CatalogIndexTest, AnswersAsAWalkDoes) {
  PutTwoHours();
  const CatalogIndex by_store(store_), by_both(store_, &recent_);
  ExpectAnswersOfAWalk(by_store);
  // An hour later a catalog of the first hour, some of five minutes and recent rows stand together.
  for (const int64_t at : {kHour + 4200, kHour + 7200, kHour + 7800, kHour + 20'000}) {
    Look(at);
    SCOPED_TRACE(at - kHour);
    ExpectAnswersOfAWalk(by_store);
    ExpectAnswersOfAWalk(by_both);
  }
}

TEST_F(CatalogIndexTest, ReadsNoBundlesDirectoryForWhatIsKnown) {
  PutTwoHours();
  Look(kHour + 7200);
  const CatalogIndex index(store_, &recent_, {.max_listed_bundles = 0});
  const Query query = Ask("{namespace=\"shop\",workload=\"cart\"}", kHour, kHour + 7200);
  store_.read.clear();
  EXPECT_EQ(RowsFound({store_, &index}, query), RowsFound(store_, query));
}

TEST_F(CatalogIndexTest, TakesRollUpsForSumsAlone) {
  PutTwoHours();
  Look(kHour + 4200);
  const CatalogIndex index(store_);
  const Query query = Ask("{container=\"web\"}", kHour, kHour + 3600);
  store_.read.clear();
  const auto merged = MergeProfiles({store_, &index}, query);
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->profiles, 2u) << "of each node one hour";
  EXPECT_EQ(profile::ToFolded(merged->profile, 0), "main;web 1200\n");
  EXPECT_THAT(store_.read, Each(Not(HasSubstr("/bundle/"))));
  EXPECT_EQ(ListProfiles({store_, &index}, query)->rows.size(), 120u);
}

TEST_F(CatalogIndexTest, ReadsAnIndexOnce) {
  PutTwoHours();
  Finish();
  const CatalogIndex index(store_);
  const Query query = Ask("{pod=\"nobody\"}", kHour, kHour + 7200);
  EXPECT_THAT(RowsFound({store_, &index}, query), IsEmpty());
  EXPECT_THAT(store_.read, Contains(HasSubstr("-3600/0of1")));
  store_.read.clear();
  EXPECT_THAT(RowsFound({store_, &index}, query), IsEmpty());
  EXPECT_THAT(store_.read, IsEmpty()) << "the index says that there is no such pod";
}

TEST_F(CatalogIndexTest, ReadsNothingOfAnHourWhoseWindowsEndedBefore) {
  PutTwoHours();
  Finish();
  const CatalogIndex index(store_);
  const Query query = Ask("{container=\"web\"}", kHour + 3600, kHour + 7200);
  EXPECT_FALSE(RowsFound({store_, &index}, query).empty());
  store_.read.clear();
  EXPECT_FALSE(RowsFound({store_, &index}, query).empty());
  EXPECT_THAT(store_.read, Contains(HasSubstr(fmt::format("/{}-3600/", kHour + 3600))));
  EXPECT_THAT(store_.read, Each(Not(HasSubstr(fmt::format("/{}-3600/", kHour)))));
}

TEST_F(CatalogIndexTest, ListsEachClassAndTheCatalogsOnce) {
  PutTwoHours();
  Finish();
  const MeteredStore metered(store_);
  const CatalogIndex index(metered, nullptr, {.cluster = "home"});
  const Query query = Ask("{container=\"web\"}", kHour + 3600, kHour + 7200);
  EXPECT_TRUE(MergeProfiles({metered, &index}, query));
  EXPECT_EQ(metered.Count(StoreOperation::kListFolders).calls, 3u);
  EXPECT_EQ(metered.Count(StoreOperation::kList).calls, 1u);
}

TEST_F(CatalogIndexTest, HoldsItsBoundOfIndexes) {
  PutTwoHours();
  Look(kHour + 4200);
  const CatalogIndex index(store_, nullptr, {.max_cached_bytes = 1});
  const Query query = Ask("{container=\"web\"}", kHour, kHour + 3600);
  EXPECT_EQ(RowsFound({store_, &index}, query), RowsFound(store_, query));
}

TEST_F(CatalogIndexTest, ReadsTheShardThatItNeeds) {
  std::vector<CatalogEntry> entries;
  for (uint64_t i = 0; i < 64; ++i) {
    CatalogEntry one{.bundle = *BuildKey(testing::KeyOf("node-1", kHour))};
    one.entry.row = testing::RowsOf("node-1", kHour)[0];
    one.entry.row.workload = fmt::format("w{}", i);
    one.entry.name = BundleEntryName(one.entry.row);
    one.entry.header_offset = i;
    one.entry.end_offset = i;
    entries.push_back(one);
  }
  CatalogSet set{.interval = {RetentionClass::kStandard, "home", kHour, 3600}, .shards = 8};
  ShardWriters writers(set, 0, 1, {});
  std::ranges::sort(entries, ComesBefore);
  for (const CatalogEntry& one : entries) writers.Add(one);
  ASSERT_TRUE(std::move(writers).Store(store_));
  const CatalogIndex index(store_);
  const auto rows = [&](std::string_view selector) {
    store_.read.clear();
    return ListProfiles({store_, &index}, Ask(selector, kHour, kHour + 60))->rows.size();
  };
  EXPECT_EQ(rows("{namespace=\"shop\",workload=\"w5\"}"), 1u);
  EXPECT_EQ(store_.read.size(), 1u);
  EXPECT_EQ(rows("{namespace=\"shop\"}"), 64u);
  EXPECT_EQ(store_.read.size(), 8u);
}

TEST_F(CatalogIndexTest, ReadsNothingButBundlesForACatalog) {
  CatalogEntry one{.bundle = "v1/standard/home/secret"};
  one.entry.row = testing::RowsOf("node-1", kHour)[0];
  one.entry.name = BundleEntryName(one.entry.row);
  CatalogSet set{.interval = {RetentionClass::kStandard, "home", kHour, 3600}};
  ShardWriters writers(set, 0, 1, {});
  writers.Add(one);
  ASSERT_TRUE(std::move(writers).Store(store_));
  const CatalogIndex index(store_);
  EXPECT_THAT(RowsFound({store_, &index}, Ask("", kHour, kHour + 60)),
              ElementsAre("skipped v1/standard/home/secret"));
}

TEST_F(CatalogIndexTest, NamesTheTimeOfWhichThereIsNoCatalog) {
  PutTwoHours();
  Look(kHour + 4200);
  const CatalogIndex index(store_, nullptr, {.max_listed_bundles = 20});
  const ProfileSource source(store_, &index);
  EXPECT_EQ(ListProfiles(source, Ask("", kHour, kHour + 3600))->rows.size(), 360u);
  // At kHour + 4200 what began before kHour + 3900 had a catalog.
  const auto list = ListProfiles(source, Ask("", kHour, kHour + 7200));
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code(), ErrorCode::kExhausted);
  EXPECT_THAT(
      list.error().message(),
      HasSubstr("no catalog of the time from 2025-11-21T06:05:00Z to 2025-11-21T07:00:00Z"));
  EXPECT_THAT(list.error().message(), HasSubstr("more than 20 bundles"));
  EXPECT_TRUE(ListProfiles(source, Ask("", kHour + 3900, kHour + 3900 + 540)));
}

TEST_F(CatalogIndexTest, ReadsBundlesWhereACatalogIsDamaged) {
  PutTwoHours();
  Look(kHour + 4200);
  Look(kHour + 4200 + 3601);
  Look(kHour + 4200 + 7202);
  const Query query = Ask("{namespace=\"shop\"}", kHour, kHour + 3600);
  const std::vector<std::string> rows = RowsFound(store_, query);
  for (const double part : {0.3, 0.99}) {
    std::string damaged;
    for (auto& [key, bytes] : store_.objects) {
      if (key.find(fmt::format("{}-3600/0of1", kHour)) == std::string::npos) continue;
      bytes[static_cast<size_t>(static_cast<double>(bytes.size()) * part)] ^= 0x55;
      damaged = key;
    }
    ASSERT_FALSE(damaged.empty());
    const CatalogIndex index(store_);
    std::vector<std::string> wanted = rows;
    wanted.push_back("skipped " + damaged);
    EXPECT_EQ(RowsFound({store_, &index}, query), wanted) << part;
  }
}

TEST_F(CatalogIndexTest, FindsCapturesToo) {
  CatalogRow row = testing::Row("shop", "cart-node-1", "web", kHour + 60, 4);
  const auto key = BuildKey(CaptureKey{.cluster = "home",
                                       .namespace_name = "shop",
                                       .pod = "cart-node-1",
                                       .start_s = kHour + 60,
                                       .seconds = 60,
                                       .container = "web",
                                       .type = "cpu",
                                       .id = ProfileId(row)});
  row.capture = "f00d";
  PutWindows(store_, kHour, kHour + 300);
  ASSERT_TRUE(store_.Put(*key, *EncodeCapture(row, profile::EncodePprof(testing::ProfileOf(row)))));
  Look(kHour + 600);
  const CatalogIndex index(store_, &recent_);
  const ProfileSource source(store_, &index);
  EXPECT_EQ(ListProfiles(source, Ask("{capture=\"f00d\"}", kHour, kHour + 300))->rows.size(), 1u);
  EXPECT_EQ(ListProfiles(source, Ask("{pod=\"cart-node-1\"}", kHour, kHour + 300))->rows.size(),
            11u);
}

TEST_F(CatalogIndexTest, EndsWhenNobodyWaits) {
  PutWindows(store_, kHour, kHour + 3600);
  std::stop_source gone;
  gone.request_stop();
  QueryLimits limits;
  limits.calls.stop = gone.get_token();
  const CatalogIndex index(store_);
  const int reads = store_.reads;
  const auto merged = MergeProfiles({store_, &index}, Ask("", kHour, kHour + 3600), {}, limits);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(store_.reads, reads);
}

TEST_F(CatalogIndexTest, HoldsTheLimitOfRows) {
  PutTwoHours();
  Finish();
  const CatalogIndex index(store_);
  const Query query = Ask("", kHour, kHour + 3600);
  const auto list = ListProfiles({store_, &index}, query, {}, {.max_rows = 359});
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code(), ErrorCode::kExhausted);
  EXPECT_TRUE(ListProfiles({store_, &index}, query, {}, {.max_rows = 360}));
}

}  // namespace
}  // namespace firetower::store
