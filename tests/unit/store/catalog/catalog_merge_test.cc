// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/catalog_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "store/catalog/catalog_cache.h"
#include "store/catalog/catalog_set.h"
#include "tests/unit/store/catalog/catalog_cluster.h"

namespace firetower::store {
namespace {

using ::firetower::testing::KeyOf;
using ::firetower::testing::kHour;
using ::firetower::testing::MemoryStore;
using ::firetower::testing::RowsOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const CatalogInterval kTheHour{RetentionClass::kStandard, "home", kHour, 3600};

// One of each of 40 workloads.
std::vector<CatalogEntry> EntriesAt(int64_t start_s) {
  std::vector<CatalogEntry> entries;
  for (uint64_t i = 0; i < 40; ++i) {
    CatalogEntry one{.bundle = *BuildKey(KeyOf("node-1", start_s))};
    one.entry.row = RowsOf("node-1", start_s)[0];
    one.entry.row.workload = fmt::format("workload-{}", i);
    one.entry.row.pod = fmt::format("workload-{}-abc", i);
    one.entry.name = BundleEntryName(one.entry.row);
    one.entry.header_offset = 1000 * i;
    one.entry.end_offset = 1000 * i + 900;
    entries.push_back(one);
  }
  return entries;
}

std::vector<std::string> LinesOf(std::vector<CatalogEntry> entries) {
  std::vector<std::string> lines;
  for (const CatalogEntry& one : entries) lines.push_back(CatalogLineOf(one));
  std::ranges::sort(lines);
  return lines;
}

class MergeCatalogsTest : public ::testing::Test {
 protected:
  void PutSet(int64_t start_s, uint32_t shards, std::vector<CatalogEntry> entries) {
    CatalogSet set{.interval = {RetentionClass::kStandard, "home", start_s, 300},
                   .shards = shards,
                   .unreadable = {{fmt::format("bundle of {}", start_s), "", "why"}}};
    ShardWriters writers(set, 0, 1, {});
    std::ranges::sort(entries, ComesBefore);
    for (const CatalogEntry& one : entries) writers.Add(one);
    ASSERT_TRUE(std::move(writers).Store(store_));
  }
  std::vector<ListedCatalog> Listed(int64_t seconds) const {
    const auto listing =
        CatalogListing::Read(store_, RetentionClass::kStandard, "home", kHour, kHour + 3600);
    std::vector<ListedCatalog> listed;
    for (const ListedCatalog& one : listing->all()) {
      if (one.parsed.seconds == seconds) listed.push_back(one);
    }
    return listed;
  }
  Status Merge() { return MergeCatalogs(store_, kTheHour, Listed(300), damaged_); }
  std::vector<CatalogEntry> Merged() const {
    std::vector<CatalogEntry> entries;
    for (const ListedCatalog& one : Listed(3600)) {
      const auto file = CatalogFile::Open(one.size, ReaderOf(store_, one.key));
      EXPECT_TRUE(file->Read({}, ReaderOf(store_, one.key), [&](const CatalogEntry& entry) {
        const CatalogRow& row = entry.entry.row;
        EXPECT_EQ(ShardOf(row.namespace_name, row.workload, one.parsed.shards), one.parsed.shard);
        entries.push_back(entry);
        return OkStatus();
      }));
    }
    return entries;
  }

  MemoryStore store_;
  std::vector<std::string> damaged_;
};

TEST_F(MergeCatalogsTest, TakesSetsOfDifferentlyManyShards) {
  std::vector<CatalogEntry> all;
  int64_t at = kHour;
  for (const uint32_t shards : {1u, 4u, 2u, 8u}) {
    const std::vector<CatalogEntry> entries = EntriesAt(at);
    PutSet(at, shards, entries);
    all.insert(all.end(), entries.begin(), entries.end());
    at += 300;
  }
  const Status merged = Merge();
  ASSERT_TRUE(merged) << merged.error().message();
  const std::vector<ListedCatalog> hour = Listed(3600);
  EXPECT_THAT(hour, SizeIs(8));
  EXPECT_TRUE(HasAllRows(hour));
  EXPECT_EQ(LinesOf(Merged()), LinesOf(all));
  Replacements replaced;
  for (const ListedCatalog& one : hour) {
    const auto file = CatalogFile::Open(one.size, ReaderOf(store_, one.key));
    replaced.Add(file->header());
    EXPECT_THAT(file->header().unreadable, SizeIs(4));
    EXPECT_THAT(file->header().replaces, SizeIs(4)) << "one of each set";
  }
  for (const ListedCatalog& one : Listed(300)) EXPECT_TRUE(replaced.Covers(one)) << one.key;
}

TEST_F(MergeCatalogsTest, HoldsOnceWhatTwoHold) {
  std::vector<CatalogEntry> entries = EntriesAt(kHour);
  PutSet(kHour, 2, entries);
  PutSet(kHour, 2, {entries.begin(), entries.begin() + 30});
  ASSERT_TRUE(Merge());
  EXPECT_EQ(LinesOf(Merged()), LinesOf(entries));
}

TEST_F(MergeCatalogsTest, NamesTheOneThatIsDamaged) {
  PutSet(kHour, 1, EntriesAt(kHour));
  PutSet(kHour + 300, 1, EntriesAt(kHour + 300));
  const std::string key = Listed(300)[1].key;
  store_.objects[key][20] ^= 0x55;
  EXPECT_FALSE(Merge());
  EXPECT_THAT(damaged_, ElementsAre(key));
  EXPECT_THAT(Listed(3600), IsEmpty());
}

TEST_F(MergeCatalogsTest, RefusesRowsThatAreOutOfOrder) {
  CatalogSet set{.interval = {RetentionClass::kStandard, "home", kHour, 300}};
  ShardWriters writers(set, 0, 1, {});
  std::vector<CatalogEntry> entries = EntriesAt(kHour);
  std::ranges::sort(entries, ComesBefore);
  writers.Add(entries[0]);
  writers.Add(entries[2]);
  writers.Add(entries[1]);
  ASSERT_TRUE(std::move(writers).Store(store_));
  EXPECT_FALSE(Merge());
  EXPECT_THAT(damaged_, SizeIs(1));
}

TEST(BundleList, NamesEachBundleOnceWhateverTheOrder) {
  MemoryStore store;
  ASSERT_TRUE(StoreBundleList(store, kTheHour, {"v1/b", "v1/a", "v1/b"}));
  ASSERT_TRUE(StoreBundleList(store, kTheHour, {"v1/a", "v1/b"}));
  ASSERT_EQ(store.objects.size(), 1u) << "of the same content the same name";
  std::vector<uint64_t> hashes;
  ASSERT_TRUE(ReadBundleList(store, store.objects.begin()->first, hashes));
  EXPECT_THAT(hashes, ElementsAre(HashText("v1/a"), HashText("v1/b")));
}

TEST(BundleList, EveryTruncationIsAnError) {
  MemoryStore store;
  ASSERT_TRUE(StoreBundleList(store, kTheHour, {"v1/a", "v1/b"}));
  const auto [key, whole] = *store.objects.begin();
  for (size_t size = 0; size < whole.size(); ++size) {
    store.objects[key] = whole.substr(0, size);
    std::vector<uint64_t> hashes;
    const Status read = ReadBundleList(store, key, hashes);
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(Replacements, NeedEachShardThatHasRowsOfIt) {
  ListedCatalog replaced{.key = "k"};
  replaced.parsed.shard = 1;
  replaced.parsed.shards = 2;
  Replacements replacements;
  EXPECT_FALSE(replacements.Covers(replaced));
  CatalogHeader header{.shards = 4, .replaces = {"k"}};
  header.shard = 1;
  replacements.Add(header);
  EXPECT_FALSE(replacements.Covers(replaced)) << "3 of 4 has the other half";
  EXPECT_TRUE(replacements.Covers(replaced, 1 + 8)) << "but for what is in 1 of 4";
  EXPECT_FALSE(replacements.Covers(replaced, 3));
  header.shard = 3;
  replacements.Add(header);
  EXPECT_TRUE(replacements.Covers(replaced));
  replaced.key = "another";
  EXPECT_FALSE(replacements.Covers(replaced));
}

}  // namespace
}  // namespace firetower::store
