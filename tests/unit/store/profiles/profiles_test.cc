// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profile/pprof.h"
#include "store/capture.h"
#include "store/catalog/catalog_index.h"
#include "store/profiles/newest.h"
#include "store/profiles/stored_profile.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::kSecondNs;
using ::firetower::testing::ProfileOf;
using ::firetower::testing::Row;
using ::firetower::testing::StoreFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoredProfilesTest : public ::testing::Test {
 protected:
  // Three windows a minute apart; in each web (10 samples) and db (5).
  StoredProfilesTest() {
    for (int64_t start : {kFirstWindow, kFirstWindow + 60, kFirstWindow + 120}) {
      folder_.PutBundle(
          {Row("shop", "web-1", "web", start, 10), Row("infra", "db-0", "db", start, 5)});
    }
  }
  static Query All(std::string_view selector = "") {
    return {.selector = *profile::Selector::Parse(selector)};
  }
  // "<seconds since the first window> <container>" of each.
  std::vector<std::string> Newest(const Query& query, size_t most,
                                  std::span<const OpenProfile> open = {}) {
    const Result<NewestProfiles> found = ListNewest(folder_.store(), query, most, open);
    if (!found) return {found.error().message()};
    std::vector<std::string> names;
    for (const ListedProfile& one : found->profiles) {
      names.push_back(std::to_string(one.row.start_ns / kSecondNs - kFirstWindow) + " " +
                      one.row.container);
    }
    total_ = found->total;
    return names;
  }
  Result<StoredProfile> Read(const std::string& id, std::string_view allowed = "",
                             const QueryLimits& limits = {}) {
    ASSIGN_OR_RETURN(const StoredProfileId parsed, StoredProfileId::Parse(id));
    return ReadStoredProfile(folder_.store(), parsed, *profile::Selector::Parse(allowed), limits);
  }
  std::string PutCapture(CatalogRow row) {
    row.capture = "f00d";
    const auto key = BuildKey(CaptureKey{.cluster = "home",
                                         .namespace_name = row.namespace_name,
                                         .pod = row.pod,
                                         .start_s = row.start_ns / kSecondNs,
                                         .seconds = 60,
                                         .container = row.container,
                                         .type = "cpu",
                                         .id = ProfileId(row)});
    EXPECT_TRUE(
        folder_.store().Put(*key, *EncodeCapture(row, profile::EncodePprof(ProfileOf(row)))));
    return *key;
  }
  static ErrorCode CodeOf(const Result<StoredProfile>& read) {
    return read ? ErrorCode::kInternal : read.error().code();
  }

  StoreFolder folder_;
  uint64_t total_ = 0;
};

TEST_F(StoredProfilesTest, AreListedNewestFirst) {
  EXPECT_THAT(Newest(All(), 10),
              ElementsAre("120 db", "120 web", "60 db", "60 web", "0 db", "0 web"));
  EXPECT_THAT(Newest(All(), 3), ElementsAre("120 db", "120 web", "60 db"));
  EXPECT_EQ(total_, 6u);
  EXPECT_THAT(Newest(All("{container=\"web\"}"), 1), ElementsAre("120 web"));
  EXPECT_EQ(total_, 3u);
  EXPECT_THAT(Newest(All("{container=\"nope\"}"), 1), IsEmpty());
  EXPECT_EQ(total_, 0u);
}

TEST_F(StoredProfilesTest, TheOpenWindowIsListedWithoutAnId) {
  const OpenProfile open[] = {{.row = Row("shop", "web-1", "web", kFirstWindow + 180, 3)},
                              {.row = Row("shop", "web-1", "web", kFirstWindow + 120, 10)}};
  const Result<NewestProfiles> found =
      ListNewest(folder_.store(), All("{container=\"web\"}"), 2, open);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->total, 4u) << "one of the two was stored meanwhile";
  ASSERT_EQ(found->profiles.size(), 2u);
  EXPECT_EQ(found->profiles[0].id, "");
  EXPECT_EQ(found->profiles[0].bytes, 0u);
  EXPECT_EQ(
      found->profiles[1].id.rfind(BundleKeyAt(kFirstWindow + 120) + ":shop/web-1/web/cpu-", 0), 0u);
}

TEST_F(StoredProfilesTest, EachIsReadByItsId) {
  PutCapture(Row("shop", "web-1", "web", kFirstWindow + 30, 4));
  const Result<NewestProfiles> found = ListNewest(folder_.store(), All(), 10);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->profiles.size(), 7u);
  for (const ListedProfile& one : found->profiles) {
    const Result<StoredProfile> read = Read(one.id);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->row, one.row);
    EXPECT_EQ(read->pprof_gz.size(), one.bytes);
    const auto decoded = profile::DecodePprof(read->pprof_gz);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->Total(0), one.row.samples);
    EXPECT_EQ(StoredProfileId::Parse(one.id)->NamespaceComponent(), one.row.namespace_name);
  }
}

TEST_F(StoredProfilesTest, WhatTheCallerMayNotReadIsNotThere) {
  const std::string capture = PutCapture(Row("shop", "web-1", "web", kFirstWindow + 30, 4));
  const std::string window =
      ListNewest(folder_.store(), All("{container=\"web\"}"), 1)->profiles[0].id;
  for (const std::string& id : {capture, window}) {
    EXPECT_TRUE(Read(id, "{namespace=\"shop\"}")) << id;
    EXPECT_EQ(CodeOf(Read(id, "{namespace=\"infra\"}")), ErrorCode::kNotFound) << id;
  }
}

TEST_F(StoredProfilesTest, AnotherClustersAreNotThere) {
  const std::string capture = PutCapture(Row("shop", "web-1", "web", kFirstWindow + 30, 4));
  const std::string window =
      ListNewest(folder_.store(), All("{container=\"web\"}"), 1)->profiles[0].id;
  for (const std::string& id : {capture, window}) {
    for (const auto& [cluster, is_there] : {std::pair{"home", true}, {"away", false}}) {
      const CatalogIndex index(folder_.store(), nullptr, {.cluster = cluster});
      const Result<StoredProfile> read =
          ReadStoredProfile({folder_.store(), &index}, *StoredProfileId::Parse(id), {}, {});
      ASSERT_EQ(read.has_value(), is_there) << cluster << " " << id;
      if (is_there) continue;
      EXPECT_EQ(CodeOf(read), ErrorCode::kNotFound);
    }
  }
}

TEST_F(StoredProfilesTest, ErrorsSayWhatIsWrong) {
  const std::string capture = PutCapture(Row("shop", "web-1", "web", kFirstWindow + 30, 4));
  const std::string window =
      ListNewest(folder_.store(), All("{container=\"web\"}"), 1)->profiles[0].id;
  const std::string key = BundleKeyAt(kFirstWindow);
  for (const std::string& id : std::initializer_list<std::string>{
           "", ":", key, key + ":", key + ":web", capture + ":a/b/c/d", "../../etc/passwd:a/b/c/d",
           "v1/standard/home/catalog/x:a/b/c/d", window + "/x",
           key + ":a/b/c/" + std::string(5000, 'd')}) {
    EXPECT_EQ(CodeOf(Read(id)), ErrorCode::kInvalid) << id;
  }
  EXPECT_EQ(CodeOf(Read(key + ":shop/web-1/web/cpu-000000000000.pb.gz")), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(Read(BundleKeyAt(kFirstWindow - 60) + ":a/b/c/d")), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(Read(*BuildKey(CaptureKey{.cluster = "home",
                                             .namespace_name = "shop",
                                             .pod = "web-1",
                                             .start_s = kFirstWindow,
                                             .seconds = 60,
                                             .container = "web",
                                             .type = "cpu",
                                             .id = "0123456789ab"}))),
            ErrorCode::kNotFound);
  for (const std::string& id : {capture, window}) {
    for (const QueryLimits& limits :
         {QueryLimits{.max_read_bytes = 20}, QueryLimits{.max_merged_bytes = 20}}) {
      const Result<StoredProfile> read = Read(id, "", limits);
      EXPECT_EQ(CodeOf(read), ErrorCode::kExhausted) << id;
      EXPECT_THAT(read.error().message(), HasSubstr("an answer may read 20")) << id;
    }
  }
}

// Counts the requests that tell a size.
class SizeCountingStore : public testing::MemoryStore {
 public:
  Result<uint64_t> Size(std::string_view key) const override {
    ++sizes;
    return MemoryStore::Size(key);
  }
  mutable int sizes = 0;
};

TEST_F(StoredProfilesTest, ACapturesSizeIsAskedForOnceAndOfAListingNever) {
  const std::string key = PutCapture(Row("shop", "web-1", "web", kFirstWindow + 30, 4));
  SizeCountingStore store;
  store.objects[key] = *folder_.store().Get(key);
  ASSERT_TRUE(ReadStoredProfile(store, *StoredProfileId::Parse(key), {}, {}));
  EXPECT_EQ(store.sizes, 1);
  const Result<NewestProfiles> listed = ListNewest(store, All(), 1);
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->total, 1u);
  EXPECT_EQ(store.sizes, 1);
}

}  // namespace
}  // namespace firetower::store
