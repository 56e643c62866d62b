// SPDX-License-Identifier: Apache-2.0
#include "store/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "store/capture.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::kFirstWindow;
using ::firetower::testing::Row;
using ::firetower::testing::StoreFolder;
using ::testing::HasSubstr;

TEST(VerifyStore, IsContentWithWholeObjects) {
  StoreFolder folder;
  for (int i = 0; i < 3; ++i) folder.PutBundle({Row("a", "b", "c", kFirstWindow + 60 * i)});
  auto result = VerifyStore(folder.store());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->objects, 3u);
  EXPECT_EQ(result->entries, 3u);
  EXPECT_TRUE(result->damaged.empty());
}

TEST(VerifyStore, NamesEachDamagedObjectAndWhy) {
  StoreFolder folder;
  std::vector<std::string> keys;
  for (int i = 0; i < 4; ++i)
    keys.push_back(folder.PutBundle({Row("a", "b", "c", kFirstWindow + 60 * i)}));
  std::string bytes = *folder.store().Get(keys[0]);
  ASSERT_TRUE(WriteFileAtomic(folder.PathOf(keys[0]), bytes.substr(0, bytes.size() - 1)));
  ASSERT_TRUE(WriteFileAtomic(folder.PathOf(keys[1]), ""));
  bytes = *folder.store().Get(keys[2]);
  auto index = ReadBundleIndex(folder.store(), keys[2]);
  bytes[index->entries[0].end_offset - 3] ^= 0x10;
  ASSERT_TRUE(WriteFileAtomic(folder.PathOf(keys[2]), bytes));
  ASSERT_TRUE(folder.store().Put(
      "v1/standard/home/capture/a/b/2025-11-21/1763700000-60-c-cpu-0123456789ab.pb.gz",
      "not gzip"));

  auto result = VerifyStore(folder.store());
  ASSERT_TRUE(result);
  ASSERT_EQ(result->damaged.size(), 4u);
  auto reason = [&](const std::string& key) -> std::string {
    for (const DamagedObject& damaged : result->damaged) {
      if (damaged.key == key) return damaged.reason;
    }
    return "not named";
  };
  EXPECT_THAT(reason(keys[0]), HasSubstr("truncated"));
  EXPECT_THAT(reason(keys[1]), HasSubstr("truncated"));
  EXPECT_THAT(reason(keys[2]), HasSubstr("bad CRC-32"));
  EXPECT_EQ(reason(keys[3]), "not named");
}

TEST(VerifyStore, LooksAtTheNewestWithinItsLimits) {
  StoreFolder folder;
  for (int i = 0; i < 5; ++i) folder.PutBundle({Row("a", "b", "c", kFirstWindow + 60 * i)});
  std::string newest = testing::BundleKeyAt(kFirstWindow + 240);
  ASSERT_TRUE(WriteFileAtomic(folder.PathOf(newest), "damaged"));
  auto result = VerifyStore(folder.store(), {.max_objects = 2});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->objects, 2u);
  EXPECT_EQ(result->not_checked, 3u);
  ASSERT_EQ(result->damaged.size(), 1u);
  EXPECT_EQ(result->damaged[0].key, newest);
  EXPECT_EQ(VerifyStore(folder.store(), {.max_bytes = 8})->objects, 1u);
}

}  // namespace
}  // namespace firetower::store
