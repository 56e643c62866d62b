// SPDX-License-Identifier: Apache-2.0
#include "store/spool/uploader.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "store/key.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::BundleOf;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::Row;
using ::testing::ElementsAre;

constexpr int64_t kHourNs = 3600 * kNsPerSecond;

std::string Bundle() { return BundleOf({Row("shop", "a", "web", kFirstWindow)}); }
std::string KeyOf(int64_t window) { return BundleKeyAt(kFirstWindow + 60 * window); }

class UploaderTest : public ::testing::Test {
 protected:
  UploaderTest() {
    options_.first_retry_ns = options_.last_retry_ns = kNsPerMs;
    remote_.on_put = [this](const std::string& key) { tried_.push_back(key); };
  }
  std::unique_ptr<Uploader> Begin() { return BeginTo(remote_); }
  std::unique_ptr<Uploader> BeginTo(ObjectStore& store) {
    auto uploader = std::make_unique<Uploader>(*spool_, store, Clock::System(), options_,
                                               [this](const Status& put, int64_t) {
                                                 std::lock_guard lock(mutex_);
                                                 ++(put ? taken_ : refused_);
                                                 changed_.notify_all();
                                               });
    uploader->Start();
    return uploader;
  }
  void WaitFor(int taken, int refused) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return taken_ >= taken && refused_ >= refused; });
  }
  // The oldest of three is refused so, at least so often: it stays, and the others are stored.
  void ExpectToWait(ErrorCode refusal, int refused) {
    remote_.refuse_keys[KeyOf(0)] = refusal;
    for (int64_t window : {0, 1, 2}) ASSERT_TRUE(spool_->Add(KeyOf(window), Bundle()));
    const auto uploader = Begin();
    WaitFor(2, refused);
    uploader->Finish();
    EXPECT_EQ(remote_.objects.size(), 2u);
    EXPECT_EQ(spool_->Oldest(), KeyOf(0));
    EXPECT_EQ(spool_->figures().dropped_objects, 0u);
  }

  testing::ScratchFolder folder_;
  std::unique_ptr<Spool> spool_ = *Spool::Open(folder_.path() + "/spool", 1 << 20);
  testing::MemoryStore remote_;
  UploaderOptions options_;
  std::vector<std::string> tried_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int taken_ = 0, refused_ = 0;
};

TEST_F(UploaderTest, TakesWhatAFormerProcessLeftTheOldestFirst) {
  for (int64_t window : {2, 0, 1}) ASSERT_TRUE(spool_->Add(KeyOf(window), Bundle()));
  const auto uploader = Begin();
  WaitFor(3, 0);
  uploader->Finish();
  EXPECT_THAT(tried_, ElementsAre(KeyOf(0), KeyOf(1), KeyOf(2)));
  EXPECT_EQ(remote_.objects[KeyOf(1)], Bundle());
  EXPECT_EQ(spool_->Oldest(), std::nullopt);
}

TEST_F(UploaderTest, TakesWhatComesLater) {
  const auto uploader = Begin();
  ASSERT_TRUE(spool_->Add(KeyOf(0), Bundle()));
  uploader->Notify();
  WaitFor(1, 0);
  uploader->Finish();
  EXPECT_EQ(remote_.objects.size(), 1u);
}

TEST_F(UploaderTest, TriesAgainUntilTheStoreTakesItAndKeepsTheOrder) {
  remote_.refuse = 2;
  for (int64_t window : {0, 1}) ASSERT_TRUE(spool_->Add(KeyOf(window), Bundle()));
  const auto uploader = Begin();
  WaitFor(2, 2);
  uploader->Finish();
  EXPECT_THAT(tried_, ElementsAre(KeyOf(0), KeyOf(0), KeyOf(0), KeyOf(1)));
  EXPECT_EQ(spool_->figures().objects, 0u);
}

TEST_F(UploaderTest, WhatTheStoreRefusesStaysInTheSpool) {
  remote_.refuse = 1'000'000;
  ASSERT_TRUE(spool_->Add(KeyOf(0), Bundle()));
  const auto uploader = Begin();
  WaitFor(0, 2);
  uploader->Finish();
  EXPECT_EQ(spool_->Oldest(), KeyOf(0));
  EXPECT_EQ(spool_->figures().dropped_objects, 0u);
}

// It would wait for an hour otherwise.
TEST_F(UploaderTest, AtItsEndItWaitsForNothing) {
  options_.spread_ns = options_.first_retry_ns = options_.last_retry_ns = kHourNs;
  const auto uploader = Begin();
  for (int64_t window : {0, 1}) ASSERT_TRUE(spool_->Add(KeyOf(window), Bundle()));
  uploader->Notify();
  uploader->Finish();
  EXPECT_EQ(remote_.objects.size(), 2u);
}

TEST_F(UploaderTest, AtItsEndItLeavesWhatThereIsNoTimeFor) {
  options_.spread_ns = kHourNs;
  options_.finish_ns = 0;
  const auto uploader = Begin();
  ASSERT_TRUE(spool_->Add(KeyOf(0), Bundle()));
  uploader->Notify();
  uploader->Finish();
  EXPECT_EQ(spool_->Oldest(), KeyOf(0));
}

TEST_F(UploaderTest, DropsWhatTheStoreCallsInvalidBeforeAndAfterItTookOthers) {
  for (int64_t window : {0, 1}) remote_.refuse_keys[KeyOf(window)] = ErrorCode::kInvalid;
  for (int64_t window : {0, 1, 2, 3}) ASSERT_TRUE(spool_->Add(KeyOf(window), Bundle()));
  const auto uploader = Begin();
  WaitFor(2, 4);
  uploader->Finish();
  EXPECT_THAT(tried_, ElementsAre(KeyOf(0), KeyOf(1), KeyOf(2), KeyOf(3), KeyOf(0), KeyOf(1)));
  EXPECT_EQ(spool_->figures().objects, 0u);
  EXPECT_EQ(spool_->figures().dropped_objects, 2u);
}

// Somebody may grant it what it lacks.
TEST_F(UploaderTest, WhatItMayNotStoreWaitsAndHoldsUpNothing) {
  ExpectToWait(ErrorCode::kPermission, 3);
}

// A large one that a slow way does not take in time, or a part of the store that is away.
TEST_F(UploaderTest, WhatFailsAgainAndAgainHoldsUpNothing) {
  ExpectToWait(ErrorCode::kUnavailable, 9);
  const std::vector<std::string> first(tried_.begin(), tried_.begin() + 6);
  EXPECT_THAT(first, ElementsAre(KeyOf(0), KeyOf(0), KeyOf(0), KeyOf(1), KeyOf(2), KeyOf(0)));
}

// A proxy that takes no bodies of that size.
TEST_F(UploaderTest, WhatPassesABoundWaitsAndHoldsUpNothing) {
  ExpectToWait(ErrorCode::kExhausted, 6);
}

// It may be the store that is set up wrongly.
TEST_F(UploaderTest, KeepsWhatTheStoreCallsInvalidWhereThereIsNoOther) {
  remote_.refuse_keys[KeyOf(0)] = ErrorCode::kInvalid;
  ASSERT_TRUE(spool_->Add(KeyOf(0), Bundle()));
  const auto uploader = Begin();
  WaitFor(0, 2);
  uploader->Finish();
  EXPECT_EQ(spool_->Oldest(), KeyOf(0));
  EXPECT_EQ(spool_->figures().dropped_objects, 0u);
}

// A disk that lost the end of a file, or all of it, and what somebody put there.
TEST_F(UploaderTest, DropsWhatIsDamagedAndUploadsTheRest) {
  const std::string capture = *BuildKey(CaptureKey{.cluster = "home",
                                                   .namespace_name = "shop",
                                                   .pod = "cart",
                                                   .start_s = kFirstWindow,
                                                   .seconds = 30,
                                                   .container = "web",
                                                   .type = "cpu",
                                                   .id = "0123456789ab"});
  ASSERT_TRUE(spool_->Add(KeyOf(0), Bundle().substr(0, Bundle().size() / 2)));
  ASSERT_TRUE(spool_->Add(KeyOf(1), ""));
  ASSERT_TRUE(spool_->Add("x.zip", "junk"));
  ASSERT_TRUE(spool_->Add(capture, "no gzip"));
  ASSERT_TRUE(spool_->Add(KeyOf(2), Bundle()));
  const auto uploader = Begin();
  WaitFor(1, 0);
  uploader->Finish();
  EXPECT_THAT(tried_, ElementsAre(KeyOf(2)));
  EXPECT_EQ(spool_->figures().objects, 0u);
  EXPECT_EQ(spool_->figures().dropped_objects, 4u);
  EXPECT_EQ(spool_->figures().dropped_profiles, 4u) << "nobody can count what was in them";
  ASSERT_TRUE(spool_->figures().drop_reason);
  EXPECT_EQ(spool_->figures().drop_reason->code(), ErrorCode::kCorrupt);
}

// The one before it vanished from the disk.
TEST_F(UploaderTest, PassesOverWhatIsNotThere) {
  for (int64_t window : {0, 1}) ASSERT_TRUE(spool_->Add(KeyOf(window), Bundle()));
  ASSERT_TRUE(std::filesystem::remove(folder_.path() + "/spool/pending/" + KeyOf(0)));
  const auto uploader = Begin();
  WaitFor(1, 0);
  uploader->Finish();
  EXPECT_THAT(tried_, ElementsAre(KeyOf(1)));
  EXPECT_EQ(spool_->figures().objects, 0u);
}

// Refuses with the words of an S3 store, which name bucket and key.
class Forbidding : public testing::MemoryStore {
 public:
  Status Put(std::string_view key, std::string_view bytes) override {
    if (!forbids) return MemoryStore::Put(key, bytes);
    return Error(ErrorCode::kPermission,
                 fmt::format("s3://b/{}: PUT: 403 AccessDenied: no; ask {} times", key, ++asked));
  }
  std::string Describe() const override { return "s3://b/ at http://h"; }
  std::atomic<bool> forbids = true;
  int asked = 0;
};

size_t CountOf(std::string_view part, std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

using UploaderLogTest = UploaderTest;

TEST_F(UploaderLogTest, TellsARefusalOnceAndTheEndOfIt) {
  Forbidding store;
  for (int64_t window : {0, 1, 2}) ASSERT_TRUE(spool_->Add(KeyOf(window), Bundle()));
  ::testing::internal::CaptureStderr();
  const auto uploader = BeginTo(store);
  WaitFor(0, 7);
  store.forbids = false;
  WaitFor(3, 7);
  uploader->Finish();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(CountOf("not uploaded", log), 1u) << log;
  EXPECT_EQ(CountOf("takes uploads again", log), 1u) << log;
  const std::string line =
      log.substr(log.find("not uploaded"), log.find("takes uploads") - log.find("not uploaded"));
  EXPECT_EQ(CountOf(KeyOf(0), line), 1u) << line;
  EXPECT_EQ(CountOf("s3://b/", line.substr(0, line.find('\n'))), 1u) << line;
  EXPECT_THAT(line, ::testing::HasSubstr("PUT: 403 AccessDenied: no"));
}

class WrongBucket : public testing::MemoryStore {
 public:
  Status Check() const override {
    ++checks;
    return Error(ErrorCode::kInvalid, "s3://b/: GET: 404 NoSuchBucket: who?");
  }
  mutable int checks = 0;
};

TEST_F(UploaderLogTest, LooksAtTheStoreOnceAtTheStartAndUploadsAllTheSame) {
  WrongBucket store;
  ASSERT_TRUE(spool_->Add(KeyOf(0), Bundle()));
  ::testing::internal::CaptureStderr();
  const auto uploader = BeginTo(store);
  WaitFor(1, 0);
  ASSERT_TRUE(spool_->Add(KeyOf(1), Bundle()));
  uploader->Notify();
  WaitFor(2, 0);
  uploader->Finish();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(store.checks, 1);
  EXPECT_EQ(CountOf("the store cannot be listed", log), 1u) << log;
  EXPECT_EQ(CountOf("404 NoSuchBucket: who?", log), 1u) << log;
}

// Each turn of it comes after others were taken.
TEST_F(UploaderLogTest, TellsOfOneThatAloneIsRefusedOnce) {
  ::testing::internal::CaptureStderr();
  ExpectToWait(ErrorCode::kPermission, 4);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(CountOf("not uploaded", log), 1u) << log;
}

}  // namespace
}  // namespace firetower::store
