// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/store_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>

#include "base/file.h"
#include "store/dir_store.h"
#include "store/key.h"
#include "tests/support/stored_profiles.h"

namespace firetower::daemon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kWallNs = 1'763'700'000 * kNsPerSecond;
// Nothing listens on this port, which only root could use.
constexpr const char* kDeadStore =
    "s3://bucket?endpoint=http://127.0.0.1:1&region=us-east-1&proxy=none";

class Operations : public StoreObserver {
 public:
  void OnStoreOperation(std::string_view operation, const Status& result, int64_t) override {
    std::lock_guard lock(mutex_);
    seen_.insert(std::string(operation) + (result ? " ok" : " failed"));
  }
  std::set<std::string> seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> seen_;
};

class StoreSideTest : public ::testing::Test {
 protected:
  StoreSideTest() {
    ::setenv("AWS_ACCESS_KEY_ID", "nobody", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "nothing", 1);
    options_.cluster = "standalone";
    options_.node = "node-1";
    options_.spool_folder = folder_.path() + "/spool";
    options_.spool_bytes = 1 << 20;
    options_.finish_ns = 200 * kNsPerMs;
  }
  std::unique_ptr<StoreSide> Open(const std::string& url) {
    options_.url = url;
    Result<std::unique_ptr<StoreSide>> side = StoreSide::Open(options_, Clock::System());
    if (!side) ADD_FAILURE() << side.error().message();
    return *std::move(side);
  }
  // Sends one bundle of that time and ends. The bundle exists before the first sweep, which keeps
  // the newest one.
  void SendOne(StoreSide& side, const std::string& key) {
    ObjectSink& sink = side.Connect(operations_);
    sink.Send({1, k8s::RetentionClass::kStandard, 7, key, Bundle()});
    side.Start();
    side.Finish();
  }
  static std::string Bundle() {
    return testing::BundleOf({testing::Row("shop", "a", "web", testing::kFirstWindow)});
  }
  static std::string KeyOf(int64_t start_s) {
    store::BundleKey key;
    key.cluster = "standalone";
    key.node = "node-1";
    key.run = "abcd1234";
    key.start_s = start_s;
    key.seconds = 60;
    return *store::BuildKey(key);
  }
  static std::vector<std::string> Keys(const store::ObjectStore& store) {
    std::vector<std::string> keys;
    const auto listed = store.List("v1/", "");
    for (const store::ObjectInfo& object : *listed) keys.push_back(object.key);
    return keys;
  }

  testing::ScratchFolder folder_;
  StoreSideOptions options_;
  Operations operations_;
};

TEST_F(StoreSideTest, AFolderIsWrittenToAndHeldToItsRetention) {
  const int64_t now_s = Clock::System().WallNs() / kNsPerSecond;
  options_.retention.standard_seconds = 3600;
  options_.finish_ns = 60 * kNsPerSecond;  // a disk may be busy
  const std::string url = "file://" + folder_.path() + "/store";
  SendOne(*Open(url), KeyOf(now_s - 7200));
  const auto side = Open(url);
  SendOne(*side, KeyOf(now_s - 60));
  EXPECT_THAT(Keys(side->readable()), ElementsAre(KeyOf(now_s - 60)));
  EXPECT_THAT(operations_.seen(), Contains("put ok"));
  EXPECT_THAT(operations_.seen(), Contains("retention ok"));
  EXPECT_NE(side->folder(), nullptr);
  EXPECT_FALSE(side->spool_figures());
  EXPECT_FALSE(std::filesystem::exists(options_.spool_folder));
}

TEST_F(StoreSideTest, AStoreThatIsAwayLosesNothingAndIsLeftAlone) {
  const std::string key = KeyOf(kWallNs / kNsPerSecond);
  {
    const auto side = Open(kDeadStore);
    EXPECT_EQ(side->folder(), nullptr);
    SendOne(*side, key);
    EXPECT_EQ(side->dropped_samples(), 0u);
  }
  EXPECT_THAT(operations_.seen(), Contains("spool ok"));
  EXPECT_THAT(operations_.seen(), Not(Contains("retention ok")));
  const auto side = Open(kDeadStore);
  ASSERT_TRUE(side->spool_figures());
  EXPECT_EQ(side->spool_figures()->objects, 1u);
  EXPECT_EQ(*side->readable().Get(key), Bundle());
}

TEST_F(StoreSideTest, AFolderTakesWhatWasSpooledForABucket) {
  const int64_t now_s = Clock::System().WallNs() / kNsPerSecond;
  options_.retention.standard_seconds = 3600;
  SendOne(*Open(kDeadStore), KeyOf(now_s - 120));
  const auto side = Open("file://" + folder_.path() + "/store");
  ASSERT_TRUE(side->spool_figures());
  EXPECT_EQ(side->spool_figures()->objects, 1u);
  SendOne(*side, KeyOf(now_s - 60));
  EXPECT_THAT(Keys(side->readable()), ElementsAre(KeyOf(now_s - 120), KeyOf(now_s - 60)));
  EXPECT_EQ(*side->readable().Get(KeyOf(now_s - 120)), Bundle());
  EXPECT_EQ(side->spool_figures()->objects, 0u);
  EXPECT_NE(side->folder(), nullptr);
}

// A node's profiles from before it had a bucket are private data that no other program would
// delete.
TEST_F(StoreSideTest, WhatAFormerFolderHoldsEndsWhenItIsTooOld) {
  const int64_t now_s = Clock::System().WallNs() / kNsPerSecond;
  const std::string former = folder_.path();
  options_.retention.standard_seconds = 3600;
  options_.finish_ns = 60 * kNsPerSecond;
  SendOne(*Open("file://" + former), KeyOf(now_s - 600));
  const auto store = *store::DirStore::Open(former);
  ASSERT_TRUE(store->Put(KeyOf(now_s - 7200), Bundle()));
  options_.finish_ns = 200 * kNsPerMs;
  SendOne(*Open(kDeadStore), KeyOf(now_s));
  EXPECT_THAT(Keys(*store), ElementsAre(KeyOf(now_s - 7200), KeyOf(now_s - 600))) << "not ours";
  for (const char* file : {"state/captures", "debuginfod/symbols"}) {
    std::filesystem::create_directories(std::filesystem::path(former + '/' + file).parent_path());
    ASSERT_TRUE(WriteFileAtomic(former + '/' + file, "not of the store"));
  }
  options_.former_folder = former;
  SendOne(*Open(kDeadStore), KeyOf(now_s));
  EXPECT_THAT(Keys(*store), ElementsAre(KeyOf(now_s - 600)));
  // None is kept for being the newest, as a store's own would be.
  options_.retention.standard_seconds = 60;
  const auto side = Open(kDeadStore);
  SendOne(*side, KeyOf(now_s));
  EXPECT_THAT(Keys(*store), IsEmpty());
  EXPECT_GE(side->spool_figures()->objects, 1u) << "what waits is no profile of the folder";
  EXPECT_TRUE(std::filesystem::exists(former + "/state/captures"));
  EXPECT_TRUE(std::filesystem::exists(former + "/debuginfod/symbols"));
}

// The spool belongs to another daemon on this machine.
TEST_F(StoreSideTest, AFolderTakesNothingFromASpoolInUse) {
  const std::string key = KeyOf(kWallNs / kNsPerSecond);
  SendOne(*Open(kDeadStore), key);
  const auto other = Open(kDeadStore);
  ::testing::internal::CaptureStderr();
  const auto side = Open("file://" + folder_.path() + "/store");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("another process has it open"));
  EXPECT_FALSE(side->spool_figures());
  EXPECT_EQ(other->spool_figures()->objects, 1u);
}

TEST_F(StoreSideTest, WhetherReadersSeeTheWholeStoreIsSaid) {
  // The spool alone can answer; the store that is away cannot.
  EXPECT_THAT(Keys(Open(kDeadStore)->readable()), IsEmpty());
  options_.serve_others = true;
  const auto side = Open(kDeadStore);
  const auto limited =
      side->readable().Limited({.deadline_ns = Clock::System().MonotonicNs() + 100 * kNsPerMs});
  EXPECT_FALSE(limited->List("v1/", ""));
}

TEST_F(StoreSideTest, ChecksTheStoreInBoundedTime) {
  const auto side = Open(kDeadStore);
  const Status checked = side->Check(100 * kNsPerMs);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::kUnavailable);
}

TEST_F(StoreSideTest, RefusesWhatIsNoStore) {
  options_.url = "ftp://host/folder";
  const auto side = StoreSide::Open(options_, Clock::System());
  ASSERT_FALSE(side);
  EXPECT_THAT(side.error().message(), HasSubstr("file:///DIR"));
}

}  // namespace
}  // namespace firetower::daemon
