// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stop_token>
#include <string>

#include "store/access/file_source.h"
#include "store/access/limited_store.h"
#include "store/access/metered_store.h"
#include "store/access/served_store.h"
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

// A bucket that refuses whatever it is asked.
class RefusingStore : public MemoryStore {
 public:
  explicit RefusingStore(ErrorCode code = ErrorCode::kPermission) : code_(code) {}
  Result<std::string> Get(std::string_view, uint64_t) const override { return Refusal(); }
  Result<std::string> GetRange(std::string_view, uint64_t, uint64_t) const override {
    return Refusal();
  }
  Result<ObjectTail> GetTail(std::string_view, uint64_t) const override { return Refusal(); }
  Result<uint64_t> Size(std::string_view) const override { return Refusal(); }
  Result<std::vector<ObjectInfo>> List(std::string_view, std::string_view, size_t) const override {
    return Refusal();
  }
  Result<std::vector<std::string>> ListFolders(std::string_view) const override {
    return Refusal();
  }
  Status Check() const override { return Refusal(); }

 private:
  Error Refusal() const { return {code_, "AccessDenied: let the role read it"}; }

  const ErrorCode code_;
};

TEST(ServedStore, WhatTheStoreRefusesIsNoRightOfWhoIsAnswered) {
  const RefusingStore refusing;
  const ServedStore served(refusing);
  const auto limited = served.Limited({});
  const auto code = [](const auto& result) {
    if (result) return ErrorCode::kInternal;
    EXPECT_THAT(result.error().message(), HasSubstr("AccessDenied"));
    return result.error().code();
  };
  for (const ObjectStore* store : {static_cast<const ObjectStore*>(&served), limited.get()}) {
    EXPECT_EQ(code(store->Get("a")), ErrorCode::kUnavailable);
    EXPECT_EQ(code(store->GetRange("a", 0, 1)), ErrorCode::kUnavailable);
    EXPECT_EQ(code(store->GetTail("a", 1)), ErrorCode::kUnavailable);
    EXPECT_EQ(code(store->Size("a")), ErrorCode::kUnavailable);
    EXPECT_EQ(code(store->List("", "")), ErrorCode::kUnavailable);
    EXPECT_EQ(code(store->ListFolders("")), ErrorCode::kUnavailable);
    EXPECT_EQ(code(store->Check()), ErrorCode::kUnavailable);
  }
}

// A folder that is not there lists nothing, so the bucket or the server is missing.
TEST(ServedStore, AStoreThatIsNotFoundIsAwayAndAnObjectIsNot) {
  const RefusingStore missing(ErrorCode::kNotFound);
  const ServedStore served(missing);
  const ObjectStore& store = served;
  EXPECT_EQ(store.List("", "").error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(store.ListFolders("").error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(store.Check().error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(store.Check().error().message(), HasSubstr("the store cannot be read: AccessDenied"));
  EXPECT_EQ(store.Get("a").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.GetRange("a", 0, 1).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.GetTail("a", 1).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.Size("a").error().code(), ErrorCode::kNotFound);
}

TEST(ServedStore, WhatIsWrongOfTheStoreIsNotOfTheQuestion) {
  // A bucket that is not there, a clock that is wrong; a server that cannot do it.
  for (const ErrorCode code : {ErrorCode::kInvalid, ErrorCode::kUnsupported}) {
    const RefusingStore wrong(code);
    const ServedStore served(wrong);
    const ObjectStore& store = served;
    EXPECT_EQ(store.Get("a").error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(store.GetRange("a", 0, 1).error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(store.GetTail("a", 1).error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(store.Size("a").error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(store.List("", "").error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(store.ListFolders("").error().code(), ErrorCode::kUnavailable);
  }
  // Another answer than a listing is no damage of an object.
  const RefusingStore damaged(ErrorCode::kCorrupt);
  const ServedStore served(damaged);
  EXPECT_EQ(served.List("", "", 1).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(served.GetTail("a", 1).error().code(), ErrorCode::kCorrupt);
}

// HEAD says 404 of whatever is missing, and no more.
TEST(ServedStore, AsksForMoreWhereTheSizeDoesNotSayWhatIsMissing) {
  class HeadSaysLess : public RefusingStore {
   public:
    Result<uint64_t> Size(std::string_view) const override {
      return Error(ErrorCode::kNotFound, "404");
    }
  };
  const HeadSaysLess refusing;
  EXPECT_EQ(ServedStore(refusing).Size("a").error().code(), ErrorCode::kUnavailable);
}

TEST(ServedStore, PassesOnAllElseAndWritesNothing) {
  MemoryStore memory;
  ASSERT_TRUE(memory.Put("a/b", "12345"));
  ServedStore served(memory);
  const ObjectStore& store = served;
  EXPECT_EQ(*store.Get("a/b"), "12345");
  EXPECT_EQ(*store.GetRange("a/b", 1, 2), "23");
  EXPECT_EQ(store.GetTail("a/b", 2)->bytes, "45");
  EXPECT_EQ(*store.Size("a/b"), 5u);
  EXPECT_EQ(store.List("", "")->size(), 1u);
  EXPECT_EQ(store.ListFolders("")->at(0), "a");
  EXPECT_TRUE(store.Check());
  EXPECT_EQ(store.Get("absent").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.Size("absent").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.Get("a/b", 1).error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(served.Put("c", "1").error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(served.Delete("a/b").error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(memory.objects.size(), 1u);
  std::stop_source stop;
  const auto limited = store.Limited({.stop = stop.get_token()});
  EXPECT_EQ(*limited->Get("a/b"), "12345");
  stop.request_stop();
  EXPECT_EQ(limited->Get("a/b").error().code(), ErrorCode::kUnavailable);
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
