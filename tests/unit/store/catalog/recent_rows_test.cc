// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/recent_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/unit/store/catalog/catalog_cluster.h"

namespace firetower::store {
namespace {

using ::firetower::testing::Ask;
using ::firetower::testing::KeyOf;
using ::firetower::testing::kHour;
using ::firetower::testing::kSecondNs;
using ::firetower::testing::RowsOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const CatalogInterval kFirst{RetentionClass::kStandard, "home", kHour, 300};

BundleIndex IndexOf(const std::vector<CatalogRow>& rows) {
  BundleIndex index;
  uint64_t offset = 0;
  for (const CatalogRow& row : rows) {
    BundleEntry entry{.name = BundleEntryName(row), .row = row};
    entry.crc32 = 0xfedcba98;
    entry.header_offset = offset;
    entry.size = 30'000;
    entry.end_offset = offset += 30'200;
    index.entries.push_back(entry);
  }
  return index;
}

std::vector<CatalogEntry> Found(const RecentRows& recent, const Query& query) {
  std::vector<CatalogEntry> found;
  const Status status = recent.Find(
      query,
      [&](const CatalogEntry& one) {
        found.push_back(one);
        return OkStatus();
      },
      [](const Unreadable&) {});
  EXPECT_TRUE(status);
  return found;
}

TEST(RecentRows, GiveBackEverything) {
  CatalogRow row = RowsOf("node-1", kHour)[0];
  row.start_ns += 123 * kNsPerMs;
  row.duration_ns = 59'877 * kNsPerMs;
  row.service_name = "cart-service";
  row.policies = {"shop/a", "shop/b"};
  row.build_ids = {"aa", "bb", "cc"};
  row.value = INT64_MAX - 5;
  row.capture = "f00d";
  row.also_samples = 7;
  row.also_value = -(int64_t{1} << 40);
  BundleIndex index = IndexOf({row});
  index.entries[0].name.insert(index.entries[0].name.size() - 6, "-2");
  index.entries[0].header_offset = 0xFFFE'0000;
  index.entries[0].end_offset = 0xFFFF'0000;
  RecentRows recent;
  const std::string bundle = *BuildKey(KeyOf("node-1", kHour));
  ASSERT_TRUE(recent.Add(bundle, index));
  const std::vector<CatalogEntry> found = Found(recent, {});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].bundle, bundle);
  EXPECT_EQ(found[0].entry.row, row);
  EXPECT_EQ(found[0].entry.name, index.entries[0].name);
  EXPECT_EQ(found[0].entry.crc32, 0xfedcba98u);
  EXPECT_EQ(found[0].entry.header_offset, 0xFFFE'0000u);
  EXPECT_EQ(found[0].entry.end_offset, 0xFFFF'0000u);
  EXPECT_EQ(found[0].entry.size, 30'000u);
}

TEST(RecentRows, FindWhatIsAskedFor) {
  RecentRows recent;
  for (int64_t at = kHour; at < kHour + 600; at += 60)
    ASSERT_TRUE(recent.Add(*BuildKey(KeyOf("node-1", at)), IndexOf(RowsOf("node-1", at))));
  const auto count = [&](std::string_view selector, int64_t from_s, int64_t to_s) {
    return Found(recent, Ask(selector, from_s, to_s)).size();
  };
  EXPECT_EQ(count("", kHour, kHour + 600), 30u);
  EXPECT_EQ(count("", kHour + 59, kHour + 61), 6u);
  EXPECT_EQ(count("", kHour + 600, kHour + 900), 0u);
  EXPECT_EQ(count("", kHour - 900, kHour), 0u);
  EXPECT_EQ(count("{container=\"web\"}", kHour, kHour + 600), 10u);
  EXPECT_EQ(count("{namespace=~\"in.*\"}", kHour, kHour + 120), 2u);
  EXPECT_EQ(count("offcpu{}", kHour, kHour + 600), 0u);
}

TEST(RecentRows, TakeABundleOnce) {
  RecentRows recent;
  const std::string bundle = *BuildKey(KeyOf("node-1", kHour));
  EXPECT_FALSE(recent.Knows(kFirst, bundle));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(recent.Add(bundle, IndexOf(RowsOf("node-1", kHour))));
  EXPECT_TRUE(recent.Knows(kFirst, bundle));
  EXPECT_EQ(recent.rows(), 3u);
  EXPECT_EQ(recent.Add("no/bundle.zip", {}).error().code(), ErrorCode::kInvalid);
}

// For a question that looked before it came: it has to read the bundle itself.
TEST(RecentRows, TellWhatWasThereFromWhatCameSince) {
  RecentRows recent;
  const std::string before = *BuildKey(KeyOf("node-1", kHour));
  const std::string since = *BuildKey(KeyOf("node-2", kHour));
  ASSERT_TRUE(recent.Add(before, IndexOf(RowsOf("node-1", kHour))));
  const uint64_t looked = recent.added();
  ASSERT_TRUE(recent.AddUnreadable(since, "damaged"));
  EXPECT_TRUE(recent.Knows(kFirst, before, looked));
  EXPECT_FALSE(recent.Knows(kFirst, since, looked));
  EXPECT_TRUE(recent.Knows(kFirst, since));
}

TEST(RecentRows, TakeAllOfABundleOrNothing) {
  RecentRows recent({.max_rows = 5});
  const std::string first = *BuildKey(KeyOf("node-1", kHour)),
                    second = *BuildKey(KeyOf("node-2", kHour));
  ASSERT_TRUE(recent.Add(first, IndexOf(RowsOf("node-1", kHour))));
  const Status full = recent.Add(second, IndexOf(RowsOf("node-2", kHour)));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(recent.rows(), 3u);
  EXPECT_FALSE(recent.Knows(kFirst, second));
  recent.Drop(kFirst);
  EXPECT_TRUE(recent.Add(second, IndexOf(RowsOf("node-2", kHour))));
}

TEST(RecentRows, HoldTheirBoundOfBytes) {
  RecentRows recent({.max_bytes = 50'000});
  Status added;
  int64_t at = kHour;
  for (; added && at < kHour + 3600; at += 1)
    added = recent.Add(*BuildKey(KeyOf("node-1", at)), IndexOf(RowsOf("node-1", at)));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code(), ErrorCode::kExhausted);
  EXPECT_GT(recent.rows(), 100u);
  EXPECT_LE(recent.bytes(), 80'000u) << "one bundle more than the bound, and how tables grow";
  for (const CatalogInterval& interval : recent.Intervals()) recent.Drop(interval);
  EXPECT_TRUE(recent.Add(*BuildKey(KeyOf("node-1", at)), IndexOf(RowsOf("node-1", at))));
}

TEST(RecentRows, GiveBackTextsOfAnyBytes) {
  const std::vector<std::string> texts = {"",
                                          "0123456789abcdef",
                                          "0123456789ABCDEF",
                                          "0123456789abcde",
                                          "0123456789abcdef0",
                                          "ffffffffffffffffffffffffffffffffffffffff",
                                          "\x01",
                                          "\x02 and more",
                                          std::string("\x01\0\x02", 3),
                                          "deadbeef"};
  RecentRows recent;
  CatalogRow row = RowsOf("node-1", kHour)[0];
  row.build_ids = texts;
  row.container_id = texts[5];
  row.pod_uid = texts[6];
  ASSERT_TRUE(recent.Add(*BuildKey(KeyOf("node-1", kHour)), IndexOf({row})));
  EXPECT_EQ(Found(recent, {}).at(0).entry.row, row);
  ASSERT_TRUE(recent.Add(*BuildKey(KeyOf("node-1", kHour + 600)), IndexOf({row})));
  recent.Drop({RetentionClass::kStandard, "home", kHour + 600, 300});
  EXPECT_EQ(Found(recent, {}).at(0).entry.row, row) << "after what is left was packed anew";
}

TEST(RecentRows, AreKeptByInterval) {
  RecentRows recent;
  for (const int64_t seconds : {60, 600, 3600}) {
    ASSERT_TRUE(recent.Add(*BuildKey(KeyOf("node-1", kHour, seconds)),
                           IndexOf(RowsOf("node-1", kHour, seconds))));
  }
  ASSERT_TRUE(recent.Add(*BuildKey(KeyOf("node-1", kHour + 299)), {}));
  EXPECT_EQ(recent.BundlesOf(kFirst).size(), 2u);
  EXPECT_EQ(recent.Intervals().size(), 3u);
  recent.Drop(kFirst);
  EXPECT_EQ(recent.rows(), 6u);
  EXPECT_EQ(Found(recent, Ask("{container=\"web\"}", kHour, kHour + 60)).size(), 2u)
      << "what is left is what it was";
}

TEST(RecentRows, ComeInACatalogsOrder) {
  RecentRows recent;
  std::vector<CatalogEntry> entries;
  for (const char* node : {"node-2", "node-1"}) {
    for (int64_t at = kHour + 240; at >= kHour; at -= 60) {
      const std::string bundle = *BuildKey(KeyOf(node, at));
      std::vector<CatalogRow> rows = RowsOf(node, at);
      // A container that restarted within the interval.
      if (at == kHour + 120) rows[0].container_id = "another";
      for (const BundleEntry& entry : IndexOf(rows).entries) entries.push_back({bundle, entry});
      ASSERT_TRUE(recent.Add(bundle, IndexOf(rows)));
    }
  }
  for (const uint32_t shards : {1u, 4u}) {
    const auto shard_of = [&](const CatalogEntry& one) {
      return ShardOf(one.entry.row.namespace_name, one.entry.row.workload, shards);
    };
    std::ranges::sort(entries, [&](const CatalogEntry& a, const CatalogEntry& b) {
      return shard_of(a) != shard_of(b) ? shard_of(a) < shard_of(b) : ComesBefore(a, b);
    });
    std::vector<std::string> wanted, got;
    for (const CatalogEntry& one : entries) wanted.push_back(CatalogLineOf(one));
    ASSERT_TRUE(recent.ForEachInOrder(kFirst, shards, [&](const CatalogEntry& one) {
      got.push_back(CatalogLineOf(one));
      return OkStatus();
    }));
    EXPECT_EQ(got, wanted) << shards;
  }
}

TEST(RecentRows, NameWhatCouldNotBeRead) {
  RecentRows recent;
  const std::string bundle = *BuildKey(KeyOf("node-1", kHour));
  ASSERT_TRUE(recent.AddUnreadable(bundle, "truncated"));
  EXPECT_TRUE(recent.Knows(kFirst, bundle));
  EXPECT_THAT(recent.UnreadableOf(kFirst), ElementsAre(Unreadable{bundle, "", "truncated"}));
  int named = 0;
  const auto ignore = [](const CatalogEntry&) { return OkStatus(); };
  const auto count = [&](const Unreadable&) { ++named; };
  ASSERT_TRUE(recent.Find(Ask("", kHour, kHour + 60), ignore, count));
  EXPECT_EQ(named, 1);
  ASSERT_TRUE(recent.Find(Ask("", kHour + 86'400, kHour + 86'460), ignore, count));
  EXPECT_EQ(named, 1);
  EXPECT_THAT(Found(recent, {}), IsEmpty());
}

TEST(RecentRows, AreSmallAndForgetWhatIsGone) {
  // A tenth of 5,000 nodes, with names as long as theirs, for five minutes.
  RecentRows recent;
  size_t rows = 0;
  for (int64_t at = kHour; at < kHour + 300; at += 60) {
    for (int node = 0; node < 500; ++node) {
      std::vector<CatalogRow> all;
      for (int i = 0; i < 30; ++i) {
        CatalogRow row = RowsOf("node", at)[0];
        row.pod = fmt::format("checkout-service-7d9f8b6c5d-{:02}-{:04}", i / 2, node);
        row.pod_uid = fmt::format("0b8e7a52-9c1d-4e6f-8a3b-{:06}{:06}", i / 2, node);
        row.container = i % 2 == 0 ? "main" : "istio-proxy";
        row.container_id = fmt::format("{:032x}{:032x}", i, node);
        row.node = fmt::format("ip-10-20-{}-{}.eu-central-1.compute.internal", node / 250, node);
        row.policies = {"monitoring/everything"};
        row.samples = at % 977 + i;
        all.push_back(row);
      }
      const std::string bundle = *BuildKey(KeyOf(fmt::format("ip-10-20-{}", node), at));
      ASSERT_TRUE(recent.Add(bundle, IndexOf(all)));
      rows += all.size();
    }
  }
  EXPECT_EQ(recent.rows(), rows);
  EXPECT_LE(recent.bytes(), rows * 133) << "750,000 in 100 MB";
  recent.Drop(kFirst);
  EXPECT_EQ(recent.rows(), 0u);
  EXPECT_LE(recent.bytes(), 1000u);
}

}  // namespace
}  // namespace firetower::store
