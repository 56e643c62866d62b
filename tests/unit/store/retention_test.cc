// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

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

}  // namespace
}  // namespace firetower::store
