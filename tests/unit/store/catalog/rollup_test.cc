// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/rollup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/merge.h"
#include "profile/select/stack_filter.h"
#include "tests/support/memory_store.h"
#include "tests/support/sample_profiles.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::BundleOf;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::kSecondNs;
using ::firetower::testing::Row;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RollUpTest : public ::testing::Test {
 protected:
  void Put(int64_t window, std::vector<CatalogRow> rows) {
    keys_.push_back(BundleKeyAt(kFirstWindow + 60 * window));
    store_.objects[keys_.back()] = BundleOf(rows);
  }
  static CatalogRow RowAt(int64_t window, const std::string& container, int64_t samples) {
    return Row("shop", "cart-1", container, kFirstWindow + 60 * window, samples);
  }
  // Rows of what comes of it, with a look that each profile is what its row says.
  std::vector<CatalogRow> Rows(const RollUpLimits& limits = {}) {
    Result<RolledUp> rolled = RollUp(store_, keys_, kFirstWindow, limits);
    EXPECT_TRUE(rolled) << rolled.error().message();
    skipped_ = rolled->skipped;
    profiles_ = rolled->profiles;
    std::vector<CatalogRow> rows;
    if (rolled->bytes.empty()) return rows;
    const RangeReader read = ReaderOf(rolled->bytes);
    Result<BundleIndex> index = ReadBundleIndex(rolled->bytes.size(), read);
    EXPECT_TRUE(index) << index.error().message();
    for (const BundleEntry& entry : index->entries) {
      auto profile = profile::DecodePprof(*ReadBundleEntry(entry, read));
      EXPECT_EQ(profile->Total(0), entry.row.samples);
      EXPECT_EQ(profile->Total(static_cast<uint32_t>(profile->sample_types().size() - 1)),
                entry.row.value);
      rows.push_back(entry.row);
    }
    return rows;
  }

  testing::MemoryStore store_;
  std::vector<std::string> keys_;
  SkippedList skipped_;
  uint64_t profiles_ = 0;
};

TEST_F(RollUpTest, MergesWhatIsOfOneContainer) {
  Put(0, {RowAt(0, "web", 3), RowAt(0, "db", 5)});
  Put(1, {RowAt(1, "web", 4)});
  Put(3, {RowAt(3, "web", 6)});
  const std::vector<CatalogRow> rows = Rows();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].container, "db");
  EXPECT_EQ(rows[0].samples, 5);
  EXPECT_EQ(rows[1].container, "web");
  EXPECT_EQ(rows[1].samples, 13);
  EXPECT_EQ(rows[1].value, 130'000'000);
  EXPECT_EQ(rows[1].start_ns, kFirstWindow * kSecondNs);
  EXPECT_EQ(rows[1].duration_ns, 240 * kSecondNs) << "to the end of the last";
  EXPECT_EQ(rows[1].workload, "cart-1-workload");
  EXPECT_EQ(profiles_, 4u);
  EXPECT_THAT(skipped_.items, IsEmpty());
}

TEST_F(RollUpTest, KeepsTypesAndRestartedContainersApart) {
  CatalogRow restarted = RowAt(1, "web", 2);
  restarted.container_id = "another";
  CatalogRow blocked = RowAt(1, "web", 1);
  blocked.type = "offcpu";
  Put(0, {RowAt(0, "web", 1)});
  Put(1, {restarted, blocked});
  EXPECT_THAT(Rows(), SizeIs(3));
}

TEST_F(RollUpTest, NamesPoliciesAndBuildIdsOnce) {
  CatalogRow first = RowAt(0, "web", 1), second = RowAt(1, "web", 1);
  first.policies = {"shop/a", "shop/b"};
  second.policies = {"shop/c", "shop/b"};
  first.build_ids = {"aa"};
  second.build_ids = {"bb", "aa"};
  Put(0, {first});
  Put(1, {second});
  const std::vector<CatalogRow> rows = Rows();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].policies, ElementsAre("shop/a", "shop/b", "shop/c"));
  EXPECT_THAT(rows[0].build_ids, ElementsAre("aa", "bb"));
}

TEST_F(RollUpTest, SaysWhatItCouldNotReadAndCountsItNot) {
  Put(0, {RowAt(0, "web", 3)});
  Put(1, {RowAt(1, "web", 4)});
  std::string& damaged = store_.objects[keys_[1]];
  damaged[damaged.find("\x1f\x8b") + 20] ^= 0x55;
  keys_.push_back(BundleKeyAt(kFirstWindow + 600));
  const std::vector<CatalogRow> rows = Rows();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].samples, 3);
  ASSERT_THAT(skipped_.items, SizeIs(2));
  EXPECT_EQ(skipped_.items[0].key, keys_[2]);
  EXPECT_EQ(skipped_.items[1].key, keys_[1]);
}

TEST_F(RollUpTest, LeavesOutAContainerThatIsTooLarge) {
  Put(0, {RowAt(0, "web", 3)});
  EXPECT_THAT(Rows({.max_profile_bytes = 10}), IsEmpty());
  EXPECT_THAT(skipped_.items, SizeIs(1));
}

TEST_F(RollUpTest, LeavesOutWhichTraceASampleIsOf) {
  profile::Merger merger;
  merger.LeaveOutLabels({"trace_id", "span_id"});
  for (const char* trace : {"4b", "5c"}) {
    ASSERT_TRUE(merger.Add(testing::StackBuilder()
                               .Add({"main", "a"}, 3, {{"trace_id", trace}, {"thread", "io"}})
                               .Build()));
  }
  const profile::Profile sum = std::move(merger).Finish();
  ASSERT_EQ(sum.sample_count(), 1u);
  EXPECT_EQ(sum.Total(0), 6);
  ASSERT_EQ(sum.sample(0).labels.size(), 1u);
  EXPECT_EQ(sum.string(sum.sample(0).labels[0].key), "thread");
}

// Questions for them read the windows.
TEST_F(RollUpTest, CannotAnswerForATrace) {
  const auto query = [](profile::StackFilterTexts texts) {
    Query asked;
    asked.stacks =
        std::make_shared<const profile::StackFilter>(*profile::StackFilter::Create(texts));
    return asked;
  };
  EXPECT_FALSE(Query().NeedsWindows());
  EXPECT_FALSE(query({.focus = "main"}).NeedsWindows());
  EXPECT_FALSE(query({.tag_focus = "thread=io"}).NeedsWindows());
  EXPECT_TRUE(query({.tag_focus = "trace_id=4b"}).NeedsWindows());
  EXPECT_TRUE(query({.tag_ignore = "span_id=."}).NeedsWindows());
  EXPECT_TRUE(query({.tag_focus = "4b"}).NeedsWindows()) << "of any label";
}

TEST_F(RollUpTest, OfNothingIsNothing) { EXPECT_THAT(Rows(), IsEmpty()); }

}  // namespace
}  // namespace firetower::store
