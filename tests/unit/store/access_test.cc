// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stop_token>
#include <string>

#include "store/access/file_source.h"
#include "store/access/limited_store.h"
#include "store/access/metered_store.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::MemoryStore;
using ::firetower::testing::Row;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::StoreFolder;
using ::testing::HasSubstr;

TEST(LimitedStore, BeginsNothingThatNobodyWaitsFor) {
  MemoryStore memory;
  ASSERT_TRUE(memory.Put("a", "1"));
  std::stop_source stop;
  const auto limited = static_cast<ObjectStore&>(memory).Limited({.stop = stop.get_token()});
  EXPECT_EQ(*limited->Get("a"), "1");
  ASSERT_TRUE(limited->Put("b", "2"));
  stop.request_stop();
  EXPECT_EQ(limited->Get("a").error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(limited->Put("c", "3").error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(limited->List("", "").error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(limited->AbortUploads("", 1).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(memory.objects.size(), 2u);
}

TEST(LimitedStore, EndsAtItsDeadline) {
  MemoryStore memory;
  ASSERT_TRUE(memory.Put("a", "1"));
  FakeClock clock(100, 0);
  LimitedStore limited(memory, {.deadline_ns = 200}, clock);
  EXPECT_TRUE(limited.Size("a"));
  clock.Advance(100);
  const auto late = limited.Size("a");
  EXPECT_EQ(late.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(late.error().message(), HasSubstr("deadline"));
}

TEST(MeteredStore, CountsCallsBytesAndErrors) {
  MemoryStore memory;
  MeteredStore metered(memory);
  ObjectStore& store = metered;
  ASSERT_TRUE(store.Put("a", "12345"));
  EXPECT_TRUE(store.Get("a"));
  EXPECT_TRUE(store.GetRange("a", 1, 2));
  EXPECT_TRUE(store.GetTail("a", 3));
  EXPECT_FALSE(store.Get("absent"));
  EXPECT_FALSE(store.GetRange("a", 4, 9));
  memory.refuse = 1;
  EXPECT_FALSE(store.Put("b", "123"));
  EXPECT_TRUE(store.List("", ""));
  EXPECT_EQ(metered.Count(StoreOperation::kPut), (OperationCount{2, 1, 5}));
  EXPECT_EQ(metered.Count(StoreOperation::kGet), (OperationCount{2, 0, 5}));
  EXPECT_EQ(metered.Count(StoreOperation::kGetRange), (OperationCount{2, 1, 2}));
  EXPECT_EQ(metered.Count(StoreOperation::kGetTail), (OperationCount{1, 0, 3}));
  EXPECT_EQ(metered.Count(StoreOperation::kList), (OperationCount{1, 0, 0}));
  EXPECT_EQ(metered.Total(), (OperationCount{8, 2, 15}));
  EXPECT_EQ(StoreOperationName(StoreOperation::kGetRange), "get_range");
  EXPECT_EQ(StoreOperationName(StoreOperation::kCheck), "check");
}

TEST(MeteredStore, ReadsABundlesIndexInOneCall) {
  MemoryStore memory;
  const std::vector<CatalogRow> rows = {Row("shop", "cart", "app", 1'763'700'000)};
  ASSERT_TRUE(memory.Put("b.zip", firetower::testing::BundleOf(rows)));
  MeteredStore metered(memory);
  const auto index = ReadBundleIndex(metered, "b.zip");
  ASSERT_TRUE(index);
  ASSERT_EQ(index->entries.size(), 1u);
  EXPECT_EQ(index->entries[0].row, rows[0]);
  EXPECT_EQ(metered.Count(StoreOperation::kGetTail).calls, 1u);
  EXPECT_EQ(metered.Total().calls, 1u);
}

TEST(FileSource, ReadsWhatAPutTakes) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/f";
  std::string bytes(700'001, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7919 >> 5);
  std::ofstream(path, std::ios::binary) << bytes;
  auto source = FileSource::Open(path);
  ASSERT_TRUE(source);
  EXPECT_EQ(source->size(), bytes.size());
  StoreFolder store;
  ASSERT_TRUE(store.store().PutFrom("a/b", *source));
  EXPECT_TRUE(*store.store().Get("a/b") == bytes);
  const auto tail = store.store().GetTail("a/b", 5);
  ASSERT_TRUE(tail);
  EXPECT_EQ(tail->bytes, bytes.substr(bytes.size() - 5));
  EXPECT_EQ(tail->object_size, bytes.size());
  EXPECT_EQ(store.store().GetTail("a/b", 1 << 30)->bytes.size(), bytes.size());
  EXPECT_EQ(store.store().GetTail("a", 1).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.store().GetTail("a/c", 1).error().code(), ErrorCode::kNotFound);
}

TEST(FileSource, TellsAFileThatBecameShorter) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/f";
  std::ofstream(path) << "12345";
  auto source = FileSource::Open(path);
  ASSERT_TRUE(source);
  std::filesystem::resize_file(path, 3);
  StoreFolder store;
  EXPECT_EQ(store.store().PutFrom("a/b", *source).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(store.store().Get("a/b").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(FileSource::Open(folder.path()).error().code(), ErrorCode::kInvalid);
}

TEST(DirStore, ChecksItsFolder) {
  StoreFolder store;
  EXPECT_TRUE(store.store().Check());
  std::filesystem::remove_all(store.store().root());
  EXPECT_THAT(store.store().Check().error().message(), HasSubstr(store.store().root()));
}

}  // namespace
}  // namespace firetower::store
