// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::kSecondNs;
using ::firetower::testing::StoreFolder;
using ::testing::ElementsAre;

constexpr int64_t kDay = kSecondsPerDay;

TEST(Retention, GoesByAgeAndClass) {
  StoreFolder folder;
  std::string short_key = BundleKeyAt(kFirstWindow, "aaaaaaaa", RetentionClass::kShort);
  std::string standard_key = BundleKeyAt(kFirstWindow);
  std::string newest = BundleKeyAt(kFirstWindow + 10 * kDay);
  for (const auto& key : {short_key, standard_key, newest}) {
    ASSERT_TRUE(folder.store().Put(key, "x"));
  }
  auto swept = ApplyRetention(folder.store(), {}, (kFirstWindow + 10 * kDay) * kSecondNs);
  ASSERT_TRUE(swept);
  EXPECT_THAT(swept->deleted, ElementsAre(short_key));
  EXPECT_EQ(swept->kept_objects, 2u);
  EXPECT_FALSE(std::filesystem::exists(folder.PathOf("v1/short")));  // empty folders go
  swept = ApplyRetention(folder.store(), {}, (kFirstWindow + 15 * kDay) * kSecondNs);
  EXPECT_THAT(swept->deleted, ElementsAre(standard_key));
}

TEST(Retention, KeepsCatalogsADayLongerThanTheirData) {
  StoreFolder folder;
  CatalogKey catalog;
  catalog.retention = RetentionClass::kShort;
  catalog.cluster = "home";
  catalog.start_s = kFirstWindow;
  catalog.seconds = 300;
  catalog.hash = "0123456789abcdef";
  CatalogKey bundles = catalog;
  bundles.part = CatalogPart::kBundles;
  const std::string rows_key = *BuildKey(catalog), bundles_key = *BuildKey(bundles);
  for (const auto& key : {rows_key, bundles_key, BundleKeyAt(kFirstWindow + 90 * kDay)})
    ASSERT_TRUE(folder.store().Put(key, "x"));
  const auto at = [&](int64_t now_s) {
    return ApplyRetention(folder.store(), {}, now_s * kSecondNs)->deleted;
  };
  EXPECT_THAT(at(kFirstWindow + 300 + 4 * kDay), ElementsAre());
  EXPECT_THAT(at(kFirstWindow + 301 + 4 * kDay), ElementsAre(rows_key, bundles_key));
}

TEST(Retention, DeletesRollUpsAsTheirWindows) {
  StoreFolder folder;
  BundleKey rolled_up{.cluster = "home",
                      .start_s = kFirstWindow,
                      .seconds = 600,
                      .node = "node-1",
                      .run = "abcd1234",
                      .rolled_up = true};
  ASSERT_TRUE(folder.store().Put(*BuildKey(rolled_up), "x"));
  ASSERT_TRUE(folder.store().Put(BundleKeyAt(kFirstWindow + 20 * kDay), "x"));
  const auto at = [&](int64_t now_s) {
    return ApplyRetention(folder.store(), {}, now_s * kSecondNs)->deleted.size();
  };
  EXPECT_EQ(at(kFirstWindow + 600 + 14 * kDay), 0u);
  EXPECT_EQ(at(kFirstWindow + 601 + 14 * kDay), 1u);
}

TEST(Retention, CountsAgeFromTheEndOfTheWindow) {
  StoreFolder folder;
  ASSERT_TRUE(folder.store().Put(BundleKeyAt(kFirstWindow), "x"));
  ASSERT_TRUE(folder.store().Put(BundleKeyAt(kFirstWindow + 20 * kDay), "x"));
  auto at = [&](int64_t now_s) {
    return ApplyRetention(folder.store(), {}, now_s * kSecondNs)->deleted.size();
  };
  EXPECT_EQ(at(kFirstWindow + 60 + 14 * kDay), 0u);
  EXPECT_EQ(at(kFirstWindow + 61 + 14 * kDay), 1u);
}

TEST(Retention, DropsTheOldestOverTheByteBound) {
  StoreFolder folder;
  std::vector<std::string> keys;
  for (int i = 0; i < 5; ++i) {
    keys.push_back(BundleKeyAt(kFirstWindow + 60 * i));
    ASSERT_TRUE(folder.store().Put(keys.back(), std::string(100, 'x')));
  }
  auto swept = ApplyRetention(folder.store(), {.max_bytes = 250}, kFirstWindow * kSecondNs);
  ASSERT_TRUE(swept);
  EXPECT_THAT(swept->deleted, ElementsAre(keys[0], keys[1], keys[2]));
  EXPECT_EQ(swept->deleted_bytes, 300u);
  EXPECT_EQ(swept->kept_bytes, 200u);
}

TEST(Retention, NeverDeletesTheNewestWindow) {
  StoreFolder folder;
  std::string one = BundleKeyAt(kFirstWindow, "aaaaaaaa");
  std::string two = BundleKeyAt(kFirstWindow, "bbbbbbbb");  // a restart inside the window
  ASSERT_TRUE(folder.store().Put(one, std::string(100, 'x')));
  ASSERT_TRUE(folder.store().Put(two, std::string(100, 'x')));
  auto swept =
      ApplyRetention(folder.store(), {.max_bytes = 1}, (kFirstWindow + 900 * kDay) * kSecondNs);
  ASSERT_TRUE(swept);
  EXPECT_TRUE(swept->deleted.empty());
}

std::vector<std::string> KeysOf(const ObjectStore& store) {
  std::vector<std::string> keys;
  const auto listed = store.List("", "");
  EXPECT_TRUE(listed);
  for (const ObjectInfo& info : *listed) keys.push_back(info.key);
  return keys;
}

std::string CatalogAt(int64_t start_s, RetentionClass retention) {
  return *BuildKey(CatalogKey{.retention = retention,
                              .cluster = "home",
                              .start_s = start_s,
                              .seconds = 300,
                              .hash = "0123456789abcdef"});
}

TEST(Sweep, DeletesWhatIsOverTheAgeOfItsClass) {
  StoreFolder folder;
  const std::string short_key = BundleKeyAt(kFirstWindow, "aaaaaaaa", RetentionClass::kShort);
  const std::string long_key = BundleKeyAt(kFirstWindow, "aaaaaaaa", RetentionClass::kLong);
  const std::string standard_key = BundleKeyAt(kFirstWindow);
  const std::string next_key = BundleKeyAt(kFirstWindow + 60);
  for (const auto& key : {short_key, long_key, standard_key, next_key, std::string("other/file")})
    ASSERT_TRUE(folder.store().Put(key, "four"));
  SweepFigures figures;
  const auto sweep = [&](int64_t now_s) {
    const Status swept = SweepByAge(folder.store(), {}, FakeClock(1, now_s * kSecondNs), figures);
    EXPECT_TRUE(swept) << swept.error().message();
    return KeysOf(folder.store());
  };
  using ::testing::UnorderedElementsAre;
  EXPECT_THAT(sweep(kFirstWindow + 60 + 3 * kDay),
              UnorderedElementsAre(short_key, long_key, standard_key, next_key, "other/file"));
  EXPECT_THAT(sweep(kFirstWindow + 61 + 3 * kDay),
              UnorderedElementsAre(long_key, standard_key, next_key, "other/file"));
  EXPECT_THAT(sweep(kFirstWindow + 61 + 14 * kDay),
              UnorderedElementsAre(long_key, next_key, "other/file"));
  // Also the newest of all: there are agents to make new ones, or nobody.
  EXPECT_THAT(sweep(kFirstWindow + 61 + 90 * kDay), UnorderedElementsAre("other/file"));
  EXPECT_EQ(figures.deleted_objects, 4u);
  EXPECT_EQ(figures.deleted_bytes, 16u);
  EXPECT_EQ(figures.failed_deletions, 0u);
}

TEST(Sweep, KeepsCatalogsADayLongerAndKnowsEveryKind) {
  StoreFolder folder;
  const std::string roll_up = *BuildKey(BundleKey{.cluster = "home",
                                                  .start_s = kFirstWindow,
                                                  .seconds = 600,
                                                  .node = "node-1",
                                                  .run = "abcd1234",
                                                  .rolled_up = true});
  const std::string capture = *BuildKey(CaptureKey{.cluster = "home",
                                                   .namespace_name = "shop",
                                                   .pod = "web-0",
                                                   .start_s = kFirstWindow,
                                                   .seconds = 10,
                                                   .container = "web",
                                                   .type = "cpu",
                                                   .id = "0123456789ab"});
  const std::string catalog = CatalogAt(kFirstWindow, RetentionClass::kStandard);
  for (const auto& key : {roll_up, capture, catalog, BundleKeyAt(kFirstWindow)})
    ASSERT_TRUE(folder.store().Put(key, "x"));
  SweepFigures figures;
  ASSERT_TRUE(SweepByAge(folder.store(), {},
                         FakeClock(1, (kFirstWindow + 601 + 14 * kDay) * kSecondNs), figures));
  EXPECT_THAT(KeysOf(folder.store()), ElementsAre(catalog));
  ASSERT_TRUE(SweepByAge(folder.store(), {},
                         FakeClock(1, (kFirstWindow + 301 + 15 * kDay) * kSecondNs), figures));
  EXPECT_THAT(KeysOf(folder.store()), ElementsAre());
}

// Its clock is known from its first answer on.
class SkewedStore : public ::firetower::testing::MemoryStore {
 public:
  explicit SkewedStore(int64_t skew_s) : skew_s_(skew_s) {}
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override {
    told_ = true;
    return MemoryStore::ListFolders(prefix);
  }
  Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                       size_t limit) const override {
    told_ = true;
    return MemoryStore::List(prefix, start_after, limit);
  }
  int64_t ClockSkewNs() const override { return told_ ? skew_s_ * kSecondNs : 0; }

 private:
  const int64_t skew_s_;
  mutable bool told_ = false;
};

TEST(Sweep, DeletesNothingThatIsYoungByTheStoresClock) {
  // This machine is a year ahead, and both windows are 13 and 15 days old.
  SkewedStore store(-365 * kDay);
  const std::string young = BundleKeyAt(kFirstWindow + 2 * kDay);
  for (const std::string& key : {BundleKeyAt(kFirstWindow), young}) {
    ASSERT_TRUE(store.Put(key, "x"));
  }
  const int64_t here_s = kFirstWindow + (365 + 15) * kDay;
  SweepFigures figures;
  ASSERT_TRUE(SweepByAge(store, {}, FakeClock(1, here_s * kSecondNs), figures));
  EXPECT_THAT(KeysOf(store), ElementsAre(young));
  store.uploads = {{"v1/long/home/bundle/a.zip", kFirstWindow + 15 * kDay - 3600},
                   {"v1/long/home/bundle/b.zip", kFirstWindow + 14 * kDay - 1}};
  ASSERT_TRUE(AbortOldUploads(store, FakeClock(1, here_s * kSecondNs), figures, "home"));
  EXPECT_THAT(store.uploads, ElementsAre(::testing::Key("v1/long/home/bundle/a.zip")));
}

// A year ahead, and set back while the first listing is under way: of the store's clock that answer
// tells nothing, and the next ones that both agree.
class CorrectedStore : public ::firetower::testing::MemoryStore {
 public:
  explicit CorrectedStore(FakeClock& clock) : clock_(clock) {}
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override {
    if (!std::exchange(corrected_, true)) clock_.StepWall(-365 * kDay * kSecondNs);
    return MemoryStore::ListFolders(prefix);
  }
  int64_t ClockSkewNs() const override { return 0; }

 private:
  FakeClock& clock_;
  mutable bool corrected_ = false;
};

TEST(Sweep, DeletesNothingThatIsYoungByAClockThatWasSetMeanwhile) {
  FakeClock clock(1, (kFirstWindow + (365 + 15) * kDay) * kSecondNs);
  CorrectedStore store(clock);
  const std::string young = BundleKeyAt(kFirstWindow + 2 * kDay);
  for (const std::string& key : {BundleKeyAt(kFirstWindow), young}) {
    ASSERT_TRUE(store.Put(key, "x"));
  }
  SweepFigures figures;
  ASSERT_TRUE(SweepByAge(store, {}, clock, figures));
  EXPECT_THAT(KeysOf(store), ElementsAre(young));
}

// The other way round: the store told of it at first, and no more when it was set.
TEST(Sweep, RemembersWhatTheStoreToldOfTheClock) {
  struct Told : SkewedStore {
    using SkewedStore::SkewedStore;
    int64_t ClockSkewNs() const override { return ++asked > 3 ? 0 : -365 * kDay * kSecondNs; }
    mutable int asked = 0;
  } store(0);
  const std::string young = BundleKeyAt(kFirstWindow + 2 * kDay);
  ASSERT_TRUE(store.Put(young, "x"));
  SweepFigures figures;
  const FakeClock clock(1, (kFirstWindow + (365 + 15) * kDay) * kSecondNs);
  ASSERT_TRUE(SweepByAge(store, {}, clock, figures));
  EXPECT_THAT(KeysOf(store), ElementsAre(young));
}

TEST(Sweep, DeletesNothingThatIsYoungByThisMachinesClock) {
  SkewedStore store(+365 * kDay);
  ASSERT_TRUE(store.Put(BundleKeyAt(kFirstWindow), "x"));
  SweepFigures figures;
  for (int sweep = 0; sweep < 2; ++sweep) {
    ASSERT_TRUE(
        SweepByAge(store, {}, FakeClock(1, (kFirstWindow + 13 * kDay) * kSecondNs), figures));
  }
  EXPECT_EQ(figures.deleted_objects, 0u);
}

TEST(Sweep, KeepsAClassForEverWhenToldTo) {
  StoreFolder folder;
  ASSERT_TRUE(folder.store().Put(BundleKeyAt(kFirstWindow), "x"));
  SweepFigures figures;
  ASSERT_TRUE(SweepByAge(folder.store(), {.standard_seconds = 0},
                         FakeClock(1, (kFirstWindow + 9000 * kDay) * kSecondNs), figures));
  EXPECT_EQ(figures.deleted_objects, 0u);
}

// Counts listings, and refuses deletions.
class StubbornStore : public ::firetower::testing::MemoryStore {
 public:
  Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                       size_t limit) const override {
    ++lists;
    return MemoryStore::List(prefix, start_after, limit);
  }
  Status Delete(std::string_view key) override {
    if (stubborn) return Error(ErrorCode::kPermission, "AccessDenied");
    return MemoryStore::Delete(key);
  }
  mutable int lists = 0;
  bool stubborn = false;
};

TEST(Sweep, GivesUpAfterSomeDeletionsThatFailAndSaysWhy) {
  StubbornStore store;
  store.stubborn = true;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(store.Put(BundleKeyAt(kFirstWindow + 60 * i), "x"));
  SweepFigures figures;
  const Status swept =
      SweepByAge(store, {}, FakeClock(1, (kFirstWindow + 20 * kDay) * kSecondNs), figures);
  ASSERT_FALSE(swept);
  EXPECT_EQ(swept.error().code(), ErrorCode::kPermission);
  EXPECT_THAT(swept.error().message(), ::testing::HasSubstr(BundleKeyAt(kFirstWindow)));
  EXPECT_EQ(figures.failed_deletions, kMaxFailedDeletions);
}

// Takes many at once, and refuses some of them.
class BatchStore : public ::firetower::testing::MemoryStore {
 public:
  std::vector<Status> DeleteEach(std::span<const std::string> keys) override {
    batches.push_back(keys.size());
    std::vector<Status> results;
    for (const std::string& key : keys) {
      const bool refused = key.find(refused_run) != std::string::npos;
      results.push_back(refused ? Status(Error(ErrorCode::kPermission, "AccessDenied"))
                                : MemoryStore::Delete(key));
    }
    return results;
  }
  std::vector<size_t> batches;
  std::string refused_run = "none";
};

TEST(Sweep, DeletesManyAtOnceAfterTheFirstWentWell) {
  BatchStore store;
  for (int i = 0; i < 2'500; ++i) ASSERT_TRUE(store.Put(BundleKeyAt(kFirstWindow + 60 * i), "x"));
  SweepFigures figures;
  ASSERT_TRUE(SweepByAge(store, {}, FakeClock(1, (kFirstWindow + 20 * kDay) * kSecondNs), figures));
  EXPECT_EQ(figures.deleted_objects, 2'500u);
  EXPECT_EQ(figures.deleted_bytes, 2'500u);
  EXPECT_THAT(store.batches, ElementsAre(10, 1'000, 1'000, 490));
  EXPECT_TRUE(store.objects.empty());
}

TEST(Sweep, CountsEachOfABatchByItself) {
  BatchStore store;
  store.refused_run = "bbbbbbbb";
  for (int i = 0; i < 6; ++i) {
    const char* run = i % 2 == 0 ? "aaaaaaaa" : "bbbbbbbb";
    ASSERT_TRUE(store.Put(BundleKeyAt(kFirstWindow + 60 * i, run), "four"));
  }
  SweepFigures figures;
  const Status swept =
      SweepByAge(store, {}, FakeClock(1, (kFirstWindow + 20 * kDay) * kSecondNs), figures);
  ASSERT_FALSE(swept);
  EXPECT_THAT(swept.error().message(),
              ::testing::HasSubstr(BundleKeyAt(kFirstWindow + 60, "bbbbbbbb")));
  EXPECT_EQ(figures.deleted_objects, 3u);
  EXPECT_EQ(figures.deleted_bytes, 12u);
  EXPECT_EQ(figures.failed_deletions, 3u);
}

TEST(Sweep, DoesNotListWhatIsYoung) {
  StubbornStore store;
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(store.Put(BundleKeyAt(kFirstWindow + 60 * i), "x"));
  SweepFigures figures;
  ASSERT_TRUE(
      SweepByAge(store, {}, FakeClock(1, (kFirstWindow + 600 + 14 * kDay) * kSecondNs), figures));
  EXPECT_EQ(figures.deleted_objects, 9u);
  // Bundles are one page, captures and catalogs one more; all would be seven pages.
  EXPECT_LE(store.lists, 3);
}

TEST(Retention, KeepsForEverWhenToldTo) {
  StoreFolder folder;
  ASSERT_TRUE(folder.store().Put(BundleKeyAt(kFirstWindow), "x"));
  ASSERT_TRUE(folder.store().Put(BundleKeyAt(kFirstWindow + 60), "x"));
  ASSERT_TRUE(folder.store().Put("other/file", "x"));
  auto swept = ApplyRetention(folder.store(), {.standard_seconds = 0},
                              (kFirstWindow + 9000 * kDay) * kSecondNs);
  ASSERT_TRUE(swept);
  EXPECT_TRUE(swept->deleted.empty());
  EXPECT_EQ(swept->kept_objects, 2u);
}

// Does not let the uploads of one class be listed.
class PartlyRefusingStore : public testing::MemoryStore {
 public:
  Result<uint64_t> AbortUploads(std::string_view prefix, int64_t before_s) override {
    if (prefix.starts_with(refused)) return Error(ErrorCode::kPermission, refused);
    return MemoryStore::AbortUploads(prefix, before_s);
  }
  std::string refused;
};

TEST(AbortOldUploads, GoesOnAfterAClassThatFailsAndTellsTheFirst) {
  for (const char* refused : {"v1/short/", "v1/standard/", "v1/long/"}) {
    PartlyRefusingStore store;
    store.refused = refused;
    for (const char* retention : {"short", "standard", "long"})
      store.uploads["v1/" + std::string(retention) + "/home/bundle/a.zip"] = kFirstWindow;
    SweepFigures figures;
    const Status aborted = AbortOldUploads(
        store, FakeClock(1, (kFirstWindow + 2 * kDay) * kSecondNs), figures, "home");
    ASSERT_FALSE(aborted) << refused;
    EXPECT_EQ(aborted.error().code(), ErrorCode::kPermission);
    EXPECT_EQ(aborted.error().message(), refused);
    EXPECT_EQ(figures.aborted_uploads, 2u) << refused;
    EXPECT_EQ(store.uploads.size(), 1u) << refused;
  }
}

}  // namespace
}  // namespace firetower::store
