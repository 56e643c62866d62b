// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/directory_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "store/catalog/keeper/catalog_keeper.h"
#include "tests/unit/store/catalog/catalog_cluster.h"
#include "tests/unit/store/profiles/held_store.h"

namespace firetower::store {
namespace {

using ::firetower::testing::Ask;
using ::firetower::testing::BundleOf;
using ::firetower::testing::HeldStore;
using ::firetower::testing::kHour;
using ::firetower::testing::MemoryStore;
using ::firetower::testing::PutBundle;
using ::firetower::testing::PutWindows;
using ::firetower::testing::Row;
using ::firetower::testing::RowsFound;
using ::testing::ElementsAreArray;
using ::testing::Lt;
using ::testing::SizeIs;

// Returns the content of a directory, or the error.
std::vector<std::string> Told(const Result<BundleIndex>& index) {
  if (!index) return {std::string(ErrorCodeName(index.error().code())), index.error().message()};
  std::vector<std::string> told;
  for (const BundleEntry& entry : index->entries) {
    told.push_back(fmt::format("{} {} of {} at {}, {} samples", entry.name, entry.crc32, entry.size,
                               entry.header_offset, entry.row.samples));
  }
  return told;
}

class DirectoryReaderTest : public ::testing::Test {
 protected:
  // Bundles of so many nodes, in order of their keys.
  std::vector<ObjectInfo> PutNodes(int nodes) {
    for (int i = 10; i < 10 + nodes; ++i) PutBundle(store_, fmt::format("node-{}", i), kHour);
    return *store_.List("", "", ObjectStore::kMaxListed);
  }

  HeldStore store_;
  FakeClock clock_{kNsPerSecond, (kHour + 310) * kNsPerSecond};
  RecentRows recent_;
  CatalogKeeper keeper_{store_, recent_, clock_};
};

TEST_F(DirectoryReaderTest, ReadsEightAtOnceAndNoMore) {
  PutWindows(store_, kHour, kHour + 300);
  PutWindows(store_, kHour - 600, kHour);
  store_.may_answer = [&](const std::string&) { return store_.most_at_once >= 8; };
  store_.must_not_be = [&] { return store_.most_at_once > 8; };
  const Status looked = keeper_.Look(/*leads=*/false);
  ASSERT_TRUE(looked) << looked.error().message();
  EXPECT_FALSE(store_.timed_out) << "one waits for the other";
  EXPECT_EQ(store_.most_at_once, 8u);
  EXPECT_EQ(store_.begun, 30u) << "a read a bundle";
  EXPECT_EQ(keeper_.figures().bundles_read, 30u);
  store_.must_not_be = nullptr;
  const CatalogIndex index(store_, &recent_, {.max_listed_bundles = 0});
  const Query all = Ask("", kHour - 600, kHour + 300);
  EXPECT_EQ(RowsFound({store_, &index}, all), RowsFound(store_, all));
  EXPECT_THAT(RowsFound({store_, &index}, all), SizeIs(2 * 15 * 3));
}

TEST_F(DirectoryReaderTest, HandsOutInTheOrderOfTheQuestions) {
  const std::vector<ObjectInfo> bundles = PutNodes(8);
  // The last one answers first.
  store_.may_answer = [&](const std::string& key) {
    return key == bundles[7 - store_.answered.size()].key;
  };
  DirectoryReader reader(store_);
  EXPECT_TRUE(reader.empty());
  for (const ObjectInfo& one : bundles) reader.Ask(one);
  std::vector<std::string> taken, asked;
  for (const ObjectInfo& one : bundles) {
    asked.push_back(one.key);
    taken.push_back(reader.Take().bundle.key);
  }
  EXPECT_FALSE(store_.timed_out);
  EXPECT_THAT(taken, ElementsAreArray(asked));
  EXPECT_THAT(store_.answered, ElementsAreArray(asked.rbegin(), asked.rend()));
  EXPECT_TRUE(reader.empty());
}

// Whole ones, a damaged one, one that is gone, and one that is too large for one of several.
TEST_F(DirectoryReaderTest, ReadsWhatOneAfterAnotherWould) {
  std::vector<ObjectInfo> bundles = PutNodes(6);
  store_.objects[bundles[1].key].resize(100);
  bundles[1].size = 100;
  store_.objects.erase(bundles[2].key);
  std::vector<CatalogRow> rows;
  for (int i = 0; i < 4000; ++i)
    rows.push_back(Row("shop", fmt::format("cart-{}", i), "web", kHour));
  ASSERT_TRUE(store_.Put(bundles[3].key, BundleOf(rows)));
  bundles[3].size = store_.objects[bundles[3].key].size();
  DirectoryReader reader(store_);
  for (const ObjectInfo& one : bundles) reader.Ask(one);
  uint64_t largest = 0;
  for (const ObjectInfo& one : bundles) {
    const Result<BundleIndex> alone =
        ReadBundleIndex(one.size, [&](uint64_t offset, uint64_t length) {
          largest = std::max(largest, length);
          return store_.MemoryStore::GetRange(one.key, offset, length);
        });
    EXPECT_EQ(Told(reader.Take().index), Told(alone)) << one.key;
  }
  EXPECT_THAT(DirectoryReader::kMaxRangeBytes, Lt(largest)) << "nothing was too large";
}

TEST_F(DirectoryReaderTest, HoldsNoMoreThanItMay) {
  const std::vector<ObjectInfo> bundles = PutNodes(60);
  const std::string first = bundles[0].key;
  size_t begun_before_first = 0;
  const auto count = [&] {
    if (std::ranges::count(store_.answered, first) == 0) begun_before_first = store_.begun;
    return store_.begun;
  };
  store_.may_answer = [&](const std::string& key) {
    return key != first || count() >= DirectoryReader::kMaxHeld;
  };
  store_.must_not_be = [&] { return count() > DirectoryReader::kMaxHeld; };
  const Status looked = keeper_.Look(/*leads=*/false);
  ASSERT_TRUE(looked) << looked.error().message();
  EXPECT_FALSE(store_.timed_out) << "a slow one holds up the others";
  EXPECT_EQ(begun_before_first, DirectoryReader::kMaxHeld);
  EXPECT_EQ(recent_.rows(), 60u * 3);
}

// And not at the one that fails first.
TEST_F(DirectoryReaderTest, EndsAtTheFirstOfTheListingThatFails) {
  const std::vector<ObjectInfo> bundles = PutNodes(40);
  store_.errors.emplace(bundles[2].key, Error(ErrorCode::kUnavailable, "the third"));
  store_.errors.emplace(bundles[4].key, Error(ErrorCode::kUnavailable, "the fifth"));
  store_.may_answer = [&](const std::string& key) {
    return key != bundles[2].key || std::ranges::count(store_.answered, bundles[4].key) > 0;
  };
  const Status looked = keeper_.Look(/*leads=*/false);
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().message(), "the third");
  EXPECT_EQ(recent_.rows(), 2u * 3) << "the first and the second";
  EXPECT_EQ(store_.at_once, 0u) << "nobody reads any more";
  EXPECT_LE(store_.begun, 2 + DirectoryReader::kMaxHeld);
  const CatalogInterval interval{RetentionClass::kStandard, "home", kHour, kWindowsSeconds};
  EXPECT_FALSE(recent_.WholeIntervals().contains(interval)) << "questions list it";
  store_.errors.clear();
  ASSERT_TRUE(keeper_.Look(/*leads=*/false));
  EXPECT_EQ(recent_.rows(), 40u * 3);
  EXPECT_EQ(keeper_.figures().bundles_read, 40u);
}

TEST_F(DirectoryReaderTest, TakesWhatWasListedBeforeAListingFailed) {
  // More than a page.
  for (int i = 0; i < 1010; ++i) PutBundle(store_, fmt::format("node-{}", i), kHour);
  struct OnePage : MemoryStore {
    Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                         size_t limit) const override {
      if (start_after.ends_with(".zip")) return Error(ErrorCode::kUnavailable, "no second page");
      return MemoryStore::List(prefix, start_after, limit);
    }
  } store;
  store.objects = store_.objects;
  CatalogKeeper keeper(store, recent_, clock_);
  const Status looked = keeper.Look(/*leads=*/false);
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().message(), "no second page");
  EXPECT_EQ(recent_.rows(), 1000u * 3);
}

// Reads end when their work is stopped, as those of S3 do.
TEST_F(DirectoryReaderTest, EndsWithItsStore) {
  PutNodes(40);
  std::stop_source stop;
  bool stopped = false;
  store_.may_answer = [&](const std::string&) { return stopped; };
  const std::unique_ptr<ObjectStore> limited = store_.Limited({.stop = stop.get_token()});
  CatalogKeeper keeper(*limited, recent_, clock_);
  Status looked;
  std::jthread look([&] { looked = keeper.Look(/*leads=*/false); });
  EXPECT_TRUE(store_.WaitForReads(8));
  stop.request_stop();
  store_.Change([&] { stopped = true; });
  look.join();
  // Which were under way may have been answered.
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(store_.begun, 8u) << "none begins after that";
  EXPECT_FALSE(store_.timed_out);
}

}  // namespace
}  // namespace firetower::store
