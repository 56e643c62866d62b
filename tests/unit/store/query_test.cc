// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stop_token>

#include "base/file.h"
#include "profile/export.h"
#include "profile/type.h"
#include "store/capture.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::BundleOf;
using ::firetower::testing::InUseAt;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::kSecondNs;
using ::firetower::testing::ProfileOf;
using ::firetower::testing::Row;
using ::firetower::testing::StoreFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

profile::Selector Select(std::string_view text) { return *profile::Selector::Parse(text); }

Query Between(int64_t from_s, int64_t to_s, std::string_view selector = "") {
  return {.selector = Select(selector), .from_ns = from_s * kSecondNs, .to_ns = to_s * kSecondNs};
}

std::string Folded(const MergeResult& result) { return profile::ToFolded(result.profile, 0); }

class StoreQuery : public ::testing::Test {
 protected:
  // Three windows a minute apart; in each web (10 samples) and db (5).
  StoreQuery() {
    for (int64_t start : {kFirstWindow, kFirstWindow + 60, kFirstWindow + 120}) {
      keys_.push_back(folder_.PutBundle(
          {Row("shop", "web-1", "web", start, 10), Row("infra", "db-0", "db", start, 5)}));
    }
  }
  DirStore& store() { return folder_.store(); }
  StoreFolder folder_;
  std::vector<std::string> keys_;
};

TEST_F(StoreQuery, ListsWhatOverlaps) {
  auto all = ListProfiles(store(), {});
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->rows.size(), 6u);
  EXPECT_EQ(all->skipped.total, 0u);
  EXPECT_EQ(all->rows.front(), Row("infra", "db-0", "db", kFirstWindow, 5));
  auto count = [&](int64_t from_s, int64_t to_s) {
    return ListProfiles(store(), Between(from_s, to_s))->rows.size();
  };
  EXPECT_EQ(count(kFirstWindow, kFirstWindow + 60), 2u);
  EXPECT_EQ(count(kFirstWindow + 59, kFirstWindow + 61), 4u);
  EXPECT_EQ(count(kFirstWindow - 100, kFirstWindow), 0u);
  EXPECT_EQ(count(kFirstWindow + 180, kFirstWindow + 999), 0u);
  EXPECT_EQ(count(kFirstWindow + 179, kFirstWindow + 999), 2u);
}

TEST_F(StoreQuery, MergesWhatTheSelectorMatches) {
  auto shop = MergeProfiles(store(), Between(0, kFirstWindow + 999, "cpu{namespace=\"shop\"}"));
  ASSERT_TRUE(shop) << shop.error().message();
  EXPECT_EQ(shop->profiles, 3u);
  EXPECT_EQ(Folded(*shop), "main;web 30\n");
  EXPECT_EQ(shop->profile.meta().time_nanos, kFirstWindow * kSecondNs);
  EXPECT_EQ(shop->profile.meta().duration_nanos, 180 * kSecondNs);
  EXPECT_EQ(shop->observed_ns, 180 * kSecondNs);
  EXPECT_EQ(Folded(*MergeProfiles(store(), Between(0, kFirstWindow + 60))),
            "main;db 5\nmain;web 10\n");
  EXPECT_EQ(MergeProfiles(store(), Between(0, 9'000'000'000, "lock{}"))->profiles, 0u);
  EXPECT_EQ(MergeProfiles(store(), Between(0, 9'000'000'000, "{pod=~\"web-.*\"}"))->profiles, 3u);
  Query query{.type = *profile::ParseProfileType("offcpu")};
  EXPECT_EQ(MergeProfiles(store(), query)->profiles, 0u);
}

TEST_F(StoreQuery, ObservedTimeHasNoGapsAndNothingTwice) {
  // Both containers of three windows one after another; then, after a gap, one half over the other.
  folder_.PutBundle({Row("shop", "web-1", "web", kFirstWindow + 600, 10),
                     Row("shop", "web-2", "web", kFirstWindow + 630, 10)});
  auto all = MergeProfiles(store(), Between(0, 9'000'000'000));
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->observed_ns, (180 + 90) * kSecondNs);
  EXPECT_EQ(MergeProfiles(store(), Between(0, 9'000'000'000, "lock{}"))->observed_ns, 0);
}

TEST_F(StoreQuery, CountsAWindowOnceThatWasStoredAfterItWasListed) {
  // The open window as listed: with fewer samples, and below the millisecond a row keeps.
  CatalogRow open_row = Row("shop", "web-1", "web", kFirstWindow + 180, 7);
  open_row.start_ns += 123'456;
  CatalogRow stored_row = open_row;
  stored_row.samples = 9;
  stored_row.value = 90'000'000;
  // Two units with one name: equal but for the profile.
  OpenProfile open[] = {
      {.row = open_row, .profile = std::make_shared<const profile::Profile>(ProfileOf(open_row))},
      {.row = open_row, .profile = std::make_shared<const profile::Profile>(ProfileOf(open_row))},
      {.row = Row("shop", "web-2", "web", kFirstWindow + 180, 5),
       .profile = std::make_shared<const profile::Profile>(
           ProfileOf(Row("shop", "web-2", "web", kFirstWindow + 180, 5)))}};
  Query query = Between(kFirstWindow + 180, kFirstWindow + 999);
  EXPECT_EQ(Folded(*MergeProfiles(store(), query, open)), "main;web 19\n");
  folder_.PutBundle({stored_row, stored_row});
  EXPECT_EQ(Folded(*MergeProfiles(store(), query, open)), "main;web 23\n");
  EXPECT_EQ(ListProfiles(store(), query, open)->rows.size(), 3u);
}

TEST_F(StoreQuery, AddsTheOpenWindow) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow + 180, 7);
  OpenProfile open[] = {
      {.row = row, .profile = std::make_shared<const profile::Profile>(ProfileOf(row))}};
  auto both = MergeProfiles(store(), Between(0, 9'000'000'000, "{namespace=\"shop\"}"), open);
  ASSERT_TRUE(both);
  EXPECT_EQ(Folded(*both), "main;web 37\n");
  EXPECT_EQ(
      ListProfiles(store(), Between(kFirstWindow + 180, kFirstWindow + 181), open)->rows.size(),
      1u);
  EXPECT_EQ(MergeProfiles(store(), Between(0, kFirstWindow + 180), open)->profiles, 6u);
}

TEST_F(StoreQuery, FindsCaptures) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow + 600, 4);
  auto key = BuildKey(CaptureKey{.cluster = "home",
                                 .namespace_name = "shop",
                                 .pod = "web-1",
                                 .start_s = kFirstWindow + 600,
                                 .seconds = 60,
                                 .container = "web",
                                 .type = "cpu",
                                 .id = ProfileId(row)});
  ASSERT_TRUE(store().Put(*key, *EncodeCapture(row, profile::EncodePprof(ProfileOf(row)))));
  auto found = MergeProfiles(store(), Between(kFirstWindow + 600, kFirstWindow + 700));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->skipped.total, 0u);
  EXPECT_EQ(Folded(*found), "main;web 4\n");
  EXPECT_EQ(ListProfiles(store(), Between(0, 9'000'000'000, "{pod=\"web-1\"}"))->rows.size(), 4u);
  EXPECT_EQ(ListProfiles(store(), Between(0, 9'000'000'000, "{pod=\"db-0\"}"))->rows.size(), 3u);
}

// Five of the capture's nine samples are in the window of that time as well.
TEST_F(StoreQuery, CountsOnceWhatACaptureAndAWindowHold) {
  CatalogRow row = Row("shop", "web-1", "web", kFirstWindow, 9);
  row.capture = "f00d";
  row.also_samples = 5;
  row.also_value = 5 * 10'000'000;
  profile::Profile profile = ::firetower::testing::StackBuilder(row.start_ns)
                                 .Add({"main", "web"}, 5, {{kAlsoLabel, kAlsoInWindow}})
                                 .Add({"main", "spike"}, 4)
                                 .Build();
  auto key = BuildKey(CaptureKey{.cluster = "home",
                                 .namespace_name = "shop",
                                 .pod = "web-1",
                                 .start_s = kFirstWindow,
                                 .seconds = 60,
                                 .container = "web",
                                 .type = "cpu",
                                 .id = ProfileId(row)});
  ASSERT_TRUE(store().Put(*key, *EncodeCapture(row, profile::EncodePprof(profile))));
  auto folded = [&](std::string_view selector) {
    return Folded(*MergeProfiles(store(), Between(kFirstWindow, kFirstWindow + 60, selector)));
  };
  EXPECT_EQ(folded("{pod=\"web-1\"}"), "main;spike 4\nmain;web 10\n");
  EXPECT_EQ(folded("{capture=\"f00d\"}"), "main;spike 4\nmain;web 5\n");
  EXPECT_EQ(folded("{pod=\"web-1\",capture=\"\"}"), "main;web 10\n");
  auto total = [&](std::string_view selector) {
    auto series = SeriesTotals(store(), Between(kFirstWindow, kFirstWindow + 60, selector),
                               60 * kSecondNs, {});
    return series->series.at(0).points.at(0).value;
  };
  EXPECT_DOUBLE_EQ(total("{pod=\"web-1\"}"), 14 * 1e7);
  EXPECT_DOUBLE_EQ(total("{capture=\"f00d\"}"), 9 * 1e7);
  EXPECT_THAT(LabelValues(store(), {}, "capture")->values, ElementsAre("f00d"));
}

TEST_F(StoreQuery, NamesWhatItHadToSkip) {
  std::string bytes = *store().Get(keys_[0]);
  ASSERT_TRUE(WriteFileAtomic(folder_.PathOf(keys_[0]), bytes.substr(0, bytes.size() / 2)));
  bytes = *store().Get(keys_[1]);
  auto index = ReadBundleIndex(store(), keys_[1]);
  ASSERT_TRUE(index);
  bytes[index->entries[0].end_offset - 1] ^= 1;  // last byte of web's profile
  ASSERT_TRUE(WriteFileAtomic(folder_.PathOf(keys_[1]), bytes));

  auto merged = MergeProfiles(store(), {});
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(Folded(*merged), "main;db 10\nmain;web 10\n");
  ASSERT_EQ(merged->skipped.total, 2u);
  EXPECT_EQ(merged->skipped.items[0].key, keys_[0]);
  EXPECT_THAT(merged->skipped.items[0].reason, HasSubstr("truncated"));
  EXPECT_EQ(merged->skipped.items[1].key, keys_[1]);
  EXPECT_EQ(merged->skipped.items[1].entry, index->entries[0].name);
  EXPECT_THAT(merged->skipped.items[1].reason, HasSubstr("bad CRC-32"));
  EXPECT_EQ(ListProfiles(store(), {})->skipped.total, 1u);
}

TEST_F(StoreQuery, ListsLabels) {
  auto names = LabelNames(store(), {});
  ASSERT_TRUE(names);
  EXPECT_THAT(names->values, ElementsAre("container", "container_id", "namespace", "node", "pod",
                                         "pod_uid", "service_name", "type", "workload"));
  EXPECT_THAT(LabelValues(store(), {}, "namespace")->values, ElementsAre("infra", "shop"));
  EXPECT_THAT(
      LabelValues(store(), Between(0, 9'000'000'000, "{namespace=\"shop\"}"), "pod")->values,
      ElementsAre("web-1"));
  EXPECT_THAT(LabelValues(store(), {}, "nonsense")->values, ElementsAre());
}

TEST_F(StoreQuery, SumsByStepAndSpreadsWindows) {
  std::string by[] = {"namespace"};
  // kFirstWindow is a multiple of 60, but not of 90.
  auto minute = SeriesTotals(store(), Between(0, 9'000'000'000), 60 * kSecondNs, by);
  ASSERT_TRUE(minute) << minute.error().message();
  ASSERT_EQ(minute->series.size(), 2u);
  EXPECT_EQ(minute->series[1].labels.at("namespace"), "shop");
  ASSERT_EQ(minute->series[1].points.size(), 3u);
  EXPECT_EQ(minute->series[1].points[0].start_ns, kFirstWindow * kSecondNs);
  EXPECT_DOUBLE_EQ(minute->series[1].points[0].value, 1e8);

  auto half =
      SeriesTotals(store(), Between(kFirstWindow + 30, kFirstWindow + 60), 30 * kSecondNs, {});
  ASSERT_EQ(half->series.size(), 1u);
  ASSERT_EQ(half->series[0].points.size(), 1u);
  EXPECT_DOUBLE_EQ(half->series[0].points[0].value, 0.75e8);  // half of (10 + 5) samples

  const auto samples = SeriesTotals(store(), Between(0, 9'000'000'000), 60 * kSecondNs, by, {}, {},
                                    RowValue::kSamples);
  ASSERT_TRUE(samples);
  EXPECT_DOUBLE_EQ(samples->series.at(1).points.at(0).value, 10);

  EXPECT_FALSE(SeriesTotals(store(), {}, 0, {}));
}

TEST_F(StoreQuery, HoldsItsLimits) {
  auto exhausted = [](const auto& result) {
    EXPECT_FALSE(result);
    return result ? "" : result.error().message();
  };
  EXPECT_THAT(exhausted(ListProfiles(store(), {}, {}, {.max_rows = 5})), HasSubstr("more than 5"));
  EXPECT_THAT(exhausted(MergeProfiles(store(), {}, {}, {.max_read_bytes = 100})),
              HasSubstr("narrow the selector"));
  EXPECT_THAT(exhausted(ListProfiles(store(), Between(5, 5))), HasSubstr("range is empty"));
}

// Whoever asked leaves at one of its reads.
class LeavingStore : public ::firetower::testing::MemoryStore {
 public:
  explicit LeavingStore(int leave_at) : leave_at_(leave_at) {}
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override {
    if (++reads == leave_at_) gone.request_stop();
    return MemoryStore::GetRange(key, offset, length);
  }
  mutable int reads = 0;
  mutable std::stop_source gone;

 private:
  const int leave_at_;
};

// Not a shorter answer that says how much it had to skip.
TEST(StoreQueryCancelled, IsAnErrorAndReadsNoMore) {
  LeavingStore store(5);
  for (int64_t start : {kFirstWindow, kFirstWindow + 60, kFirstWindow + 120}) {
    ASSERT_TRUE(store.Put(BundleKeyAt(start), BundleOf({Row("shop", "web-1", "web", start, 10),
                                                        Row("infra", "db-0", "db", start, 5)})));
  }
  QueryLimits limits;
  limits.calls.stop = store.gone.get_token();
  const auto merged = MergeProfiles(store, {}, {}, limits);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(store.reads, 5);
  EXPECT_FALSE(ListProfiles(store, {}, {}, limits));
  EXPECT_EQ(store.reads, 5);
}

// Profiles are merged a batch of bytes at a time: what comes behind the first counts, too, and what
// cannot be read in any is named.
TEST(StoreQueryBatches, AnswerTheSumOfAll) {
  testing::StoreFolder folder;
  constexpr int kProfiles = 12;
  std::mt19937 random(7);
  for (int i = 0; i < kProfiles; ++i) {
    const CatalogRow row = Row("shop", "web-1", "web", kFirstWindow + 60 * i, 5000);
    testing::StackBuilder stacks(row.start_ns);
    // Names that do not compress: some 200 KB each.
    for (int j = 0; j < 5000; ++j) {
      std::string name(48, ' ');
      for (char& c : name) c = static_cast<char>('!' + random() % 90);
      stacks.Add({"main", name}, 1);
    }
    BundleWriter writer(row.start_ns);
    ASSERT_TRUE(writer.Add(row, i == 9 ? "damaged" : profile::EncodePprof(stacks.Build())));
    ASSERT_TRUE(
        folder.store().Put(BundleKeyAt(kFirstWindow + 60 * i), *std::move(writer).Finish()));
  }
  const MergeResult merged = *MergeProfiles(folder.store(), Between(0, 9'000'000'000));
  EXPECT_EQ(merged.profiles, kProfiles - 1u);
  EXPECT_EQ(merged.profile.sample_count(), 5000u * (kProfiles - 1));
  ASSERT_EQ(merged.skipped.total, 1u);
  EXPECT_EQ(merged.skipped.items[0].key, BundleKeyAt(kFirstWindow + 60 * 9));
}

TEST_F(StoreQuery, RefusesToMixTypes) {
  CatalogRow lock = Row("shop", "web-1", "web", kFirstWindow + 180);
  lock.type = "lock";
  folder_.PutBundle({lock});
  auto mixed = MergeProfiles(store(), {});
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().message(), HasSubstr("types cpu and lock: ask for one type"));
  EXPECT_EQ(MergeProfiles(store(), {.type = *profile::ParseProfileType("cpu")})->profiles, 6u);
}

TEST_F(StoreQuery, PassesOverForeignFiles) {
  ASSERT_TRUE(store().Put("v1/standard/home/bundle/README", "hello"));
  ASSERT_TRUE(store().Put("v1/standard/home/bundle/2025-11-21/04/notes.txt", "hello"));
  ASSERT_TRUE(store().Put("lost+found/x", "hello"));
  auto all = ListProfiles(store(), {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->rows.size(), 6u);
  EXPECT_EQ(all->skipped.total, 0u);
}

TEST(StoreQueryPaging, ReadsMoreThanOnePage) {
  StoreFolder folder;
  std::string bytes = BundleOf({Row("a", "b", "c", kFirstWindow, 1)});
  for (int i = 0; i < 1100; ++i) {
    char run[9];
    std::snprintf(run, sizeof run, "%08d", i);
    std::string path = folder.PathOf(testing::BundleKeyAt(kFirstWindow, run));
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    FILE* file = std::fopen(path.c_str(), "w");  // without Put's fsync: a thousand take seconds
    ASSERT_NE(file, nullptr);
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  }
  EXPECT_EQ(ListProfiles(folder.store(), {})->rows.size(), 1100u);
}

TEST(SkippedList, TwoTogetherNameTheFirstAndCountAll) {
  SkippedList first, second;
  for (size_t i = 0; i < SkippedList::kMaxSkipped - 1; ++i) first.AddDamaged("first", "", "gone");
  for (size_t i = 0; i < SkippedList::kMaxSkipped + 5; ++i)
    second.AddLacked("second", "entry", "bad");
  first.Append(std::move(second));
  EXPECT_EQ(first.total, 2 * SkippedList::kMaxSkipped + 4);
  EXPECT_EQ(first.lacked, SkippedList::kMaxSkipped + 5);
  ASSERT_EQ(first.items.size(), SkippedList::kMaxSkipped);
  EXPECT_EQ(first.items[SkippedList::kMaxSkipped - 2].key, "first");
  EXPECT_EQ(first.items.back().key, "second");
  EXPECT_EQ(first.items.back().entry, "entry");
  EXPECT_EQ(first.items.back().reason, "bad");
}

// Damaged bytes cannot be had by asking again; bytes that the store did not give can.
TEST(SkippedList, LacksWhatWasNotReadAndNotWhatIsDamaged) {
  SkippedList list;
  list.AddUnread("damaged", Error(ErrorCode::kCorrupt, "its checksum is wrong"));
  EXPECT_EQ(list.lacked, 0u);
  list.AddUnread("away", Error(ErrorCode::kUnavailable, "the store does not answer"));
  EXPECT_EQ(list.lacked, 1u);
  EXPECT_EQ(list.total, 2u);
}

TEST(StoreLevels, InUseIsThatOfTheLastWindowOfWhoStillRuns) {
  firetower::testing::MemoryStore store;
  // The second one has ended meanwhile; the third one's node has not written its last window yet.
  const std::vector<OpenProfile> open = {InUseAt("web", 0, 500),  InUseAt("web", 1, 600),
                                         InUseAt("web", 2, 700),  InUseAt("web", 3, 800),
                                         InUseAt("old", 0, 5000), InUseAt("slow", 1, 40),
                                         InUseAt("slow", 2, 50)};
  const Query memory{.type = *profile::ParseProfileType("memory")};
  const auto all = MergeProfiles(store, memory, open);
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->profile.Total(1), 7000) << "what was allocated adds up";
  EXPECT_EQ(profile::ToFolded(all->profile, 3), "slow 50\nweb 800\n");
  Query earlier = memory;
  earlier.to_ns = (kFirstWindow + 60) * kSecondNs;
  EXPECT_EQ(profile::ToFolded(MergeProfiles(store, earlier, open)->profile, 3),
            "old 5000\nweb 500\n");
}

}  // namespace
}  // namespace firetower::store
