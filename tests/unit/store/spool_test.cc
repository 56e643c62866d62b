// SPDX-License-Identifier: Apache-2.0
#include "store/spool/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/spool/drain.h"
#include "store/spool/spooled_store.h"
#include "tests/support/memory_store.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::BundleKeyAt;
using ::firetower::testing::BundleOf;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::kSecondNs;
using ::firetower::testing::Row;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kRoomy = 1 << 20;

std::string KeyOf(int64_t window) { return BundleKeyAt(kFirstWindow + 60 * window); }

class SpoolTest : public ::testing::Test {
 protected:
  std::unique_ptr<Spool> Open(uint64_t max_bytes = kRoomy) {
    auto spool = Spool::Open(folder_.path() + "/spool", max_bytes);
    EXPECT_TRUE(spool) << spool.error().message();
    return *std::move(spool);
  }
  static std::vector<std::string> Keys(const ObjectStore& store) {
    std::vector<std::string> keys;
    const auto listed = store.List("", "");
    for (const ObjectInfo& object : *listed) keys.push_back(object.key);
    return keys;
  }

  testing::ScratchFolder folder_;
};

TEST_F(SpoolTest, GivesTheOldestWindowFirstWhateverCameFirst) {
  const auto spool = Open();
  const std::string capture = *BuildKey(CaptureKey{.cluster = "home",
                                                   .namespace_name = "shop",
                                                   .pod = "cart",
                                                   .start_s = kFirstWindow + 90,
                                                   .seconds = 30,
                                                   .container = "web",
                                                   .type = "cpu",
                                                   .id = "0123456789ab"});
  for (const std::string& key : {KeyOf(2), capture, KeyOf(0), KeyOf(1)})
    ASSERT_TRUE(spool->Add(key, "x"));
  for (const std::string& key : {KeyOf(0), KeyOf(1), capture, KeyOf(2)}) {
    EXPECT_EQ(spool->Oldest(), key);
    ASSERT_TRUE(spool->Remove(key));
  }
  EXPECT_EQ(spool->Oldest(), std::nullopt);
  EXPECT_EQ(spool->figures().bytes, 0u);
}

TEST_F(SpoolTest, HasAfterAStartWhatItHadBefore) {
  ASSERT_TRUE(Open()->Add(KeyOf(1), "one"));
  const auto spool = Open();
  EXPECT_EQ(spool->Oldest(), KeyOf(1));
  EXPECT_EQ(spool->figures().objects, 1u);
  EXPECT_EQ(spool->figures().bytes, 3u);
  EXPECT_EQ(*spool->pending().Get(KeyOf(1)), "one");
}

// A disk without room for a folder: it must not be uploaded for ever.
TEST_F(SpoolTest, WhatIsStoredLeavesWithoutACopyWhereNoneCanBeMade) {
  const auto spool = Open();
  ASSERT_TRUE(spool->Add(KeyOf(1), "one"));
  const std::string copies = folder_.path() + "/spool/copies";
  std::filesystem::remove_all(copies);
  std::ofstream(copies) << "in the way";
  EXPECT_TRUE(spool->Stored(KeyOf(1)));
  EXPECT_EQ(spool->Oldest(), std::nullopt);
  EXPECT_EQ(spool->figures().bytes, 0u);
  EXPECT_EQ(spool->figures().copied_bytes, 0u);
}

TEST_F(SpoolTest, DropsTheOldestWindowForANewOneAndCountsItsProfiles) {
  const std::string three =
      BundleOf({Row("shop", "a", "x", kFirstWindow), Row("shop", "b", "x", kFirstWindow),
                Row("shop", "c", "x", kFirstWindow)});
  const auto spool = Open(2 * three.size());
  for (int64_t window : {0, 1, 2}) ASSERT_TRUE(spool->Add(KeyOf(window), three));
  EXPECT_THAT(Keys(spool->pending()), ElementsAre(KeyOf(1), KeyOf(2)));
  EXPECT_EQ(spool->figures().dropped_objects, 1u);
  EXPECT_EQ(spool->figures().dropped_profiles, 3u);
  EXPECT_EQ(spool->figures().bytes, 2 * three.size());
}

TEST_F(SpoolTest, SaysOfABoundThatItIsTheBound) {
  FakeClock clock(7 * kNsPerSecond, 0);
  const auto spool = *Spool::Open(folder_.path() + "/spool", 1024, clock);
  for (int64_t window : {0, 1}) ASSERT_TRUE(spool->Add(KeyOf(window), std::string(600, 'x')));
  const SpoolFigures figures = spool->figures();
  ASSERT_TRUE(figures.drop_reason);
  EXPECT_EQ(figures.drop_reason->message(), "the spool is full: its limit is 1Ki (--spool-bytes)");
  EXPECT_EQ(figures.drop_reason->sys_errno(), 0);
  EXPECT_EQ(figures.dropped_at_ns, 7 * kNsPerSecond);
}

TEST_F(SpoolTest, KeepsASmallerBoundAfterAStart) {
  for (int64_t window : {0, 1, 2}) ASSERT_TRUE(Open()->Add(KeyOf(window), "0123456789"));
  EXPECT_THAT(Keys(Open(15)->pending()), ElementsAre(KeyOf(2)));
}

TEST_F(SpoolTest, RefusesWhatAloneIsTooLarge) {
  const auto spool = Open(10);
  ASSERT_TRUE(spool->Add(KeyOf(0), "kept"));
  const Status refused = spool->Add(KeyOf(1), "longer than ten");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalid) << "no room that comes free is enough";
  EXPECT_THAT(Keys(spool->pending()), ElementsAre(KeyOf(0)));
  EXPECT_EQ(spool->figures().dropped_objects, 0u) << "it is still the caller's";
}

TEST_F(SpoolTest, TellsWhatWaitsAfterTheOldestAndDropsWhatItIsTold) {
  const std::string three =
      BundleOf({Row("shop", "a", "x", kFirstWindow), Row("shop", "b", "x", kFirstWindow),
                Row("shop", "c", "x", kFirstWindow)});
  const auto spool = Open();
  for (int64_t window : {0, 1}) ASSERT_TRUE(spool->Add(KeyOf(window), three));
  EXPECT_EQ(spool->After(KeyOf(0)), KeyOf(1));
  EXPECT_EQ(spool->After(KeyOf(1)), std::nullopt);
  const Error why(ErrorCode::kInvalid, "never");
  spool->Drop(KeyOf(0), why);
  spool->Drop(KeyOf(0), why);
  EXPECT_EQ(spool->Oldest(), KeyOf(1));
  EXPECT_THAT(Keys(spool->all()), ElementsAre(KeyOf(1)));
  EXPECT_EQ(spool->figures().dropped_objects, 1u);
  EXPECT_EQ(spool->figures().dropped_profiles, 3u);
  EXPECT_EQ(spool->figures().bytes, three.size());
}

TEST_F(SpoolTest, CountsTheSameObjectOnce) {
  const auto spool = Open();
  ASSERT_TRUE(spool->Add(KeyOf(0), "first"));
  ASSERT_TRUE(spool->Add(KeyOf(0), "again"));
  EXPECT_EQ(spool->figures().objects, 1u);
  EXPECT_EQ(spool->figures().bytes, 5u);
  EXPECT_EQ(spool->figures().dropped_objects, 0u);
}

TEST_F(SpoolTest, KeepsACopyOfWhatLongerBundlesAreMadeOf) {
  const auto spool = Open();
  const std::string tens = *BuildKey(BundleKey{.cluster = "home",
                                               .start_s = kFirstWindow,
                                               .seconds = 600,
                                               .node = "node-1",
                                               .run = "abcd1234",
                                               .rolled_up = true});
  const std::string hour = *BuildKey(BundleKey{.cluster = "home",
                                               .start_s = kFirstWindow,
                                               .seconds = 3600,
                                               .node = "node-1",
                                               .run = "abcd1234",
                                               .rolled_up = true});
  for (const std::string& key : {KeyOf(0), tens, hour}) {
    ASSERT_TRUE(spool->Add(key, "bytes"));
    ASSERT_TRUE(spool->Stored(key));
  }
  EXPECT_THAT(Keys(spool->pending()), IsEmpty());
  EXPECT_THAT(Keys(spool->all()), ElementsAre(KeyOf(0), tens));
  EXPECT_EQ(spool->figures().objects, 0u);
  EXPECT_EQ(spool->figures().copied_bytes, 10u);
  EXPECT_EQ(Open()->Oldest(), std::nullopt) << "a copy waits for nothing";
}

TEST_F(SpoolTest, ForgetsCopiesThatNothingIsMadeOfAnyMore) {
  const auto spool = Open();
  for (const int64_t window : {0, 1, 75, 76}) {
    ASSERT_TRUE(spool->Add(KeyOf(window), "bytes"));
    ASSERT_TRUE(spool->Stored(KeyOf(window)));
  }
  EXPECT_THAT(Keys(spool->all()), ElementsAre(KeyOf(1), KeyOf(75), KeyOf(76)));
}

TEST_F(SpoolTest, CopiesGoBeforeAnythingThatWaits) {
  const auto spool = Open(15);
  ASSERT_TRUE(spool->Add(KeyOf(0), "01234"));
  ASSERT_TRUE(spool->Add(KeyOf(1), "56789"));
  ASSERT_TRUE(spool->Stored(KeyOf(1)));
  ASSERT_TRUE(spool->Add(KeyOf(2), "0123456789"));
  EXPECT_THAT(Keys(spool->all()), ElementsAre(KeyOf(0), KeyOf(2)));
  EXPECT_EQ(spool->figures().dropped_objects, 0u);
  EXPECT_EQ(spool->figures().copied_bytes, 0u);
}

// A disk of its own, of half a megabyte, which this process alone sees.
class FullDisk : public SpoolTest {
 protected:
  void SetUp() override {
    const std::string user = std::to_string(::getuid()), group = std::to_string(::getgid());
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      GTEST_SKIP() << "this machine lets nobody have a user namespace";
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " + user + " 1";
    std::ofstream("/proc/self/gid_map") << "0 " + group + " 1";
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    mounted_ = ::mount("none", folder_.path().c_str(), "tmpfs", 0, "size=512k") == 0;
    ASSERT_TRUE(mounted_);
  }
  void TearDown() override {
    if (mounted_) ::umount(folder_.path().c_str());
  }
  bool mounted_ = false;
};

TEST_F(FullDisk, MakesRoomByDroppingTheOldest) {
  const std::string large(200 << 10, 'x');
  {
    const auto spool = Open(kRoomy * 16);
    for (int64_t window : {0, 1, 2, 3}) ASSERT_TRUE(spool->Add(KeyOf(window), large));
    EXPECT_THAT(Keys(spool->pending()), ElementsAre(KeyOf(2), KeyOf(3)));
    const SpoolFigures figures = spool->figures();
    EXPECT_EQ(figures.dropped_objects, 2u);
    ASSERT_TRUE(figures.drop_reason);
    EXPECT_EQ(figures.drop_reason->sys_errno(), ENOSPC);
    EXPECT_THAT(figures.drop_reason->message(), HasSubstr("the disk of the spool is full: "));
    EXPECT_THAT(figures.drop_reason->message(), HasSubstr("No space left on device"));
    EXPECT_THAT(figures.drop_reason->message(), HasSubstr(folder_.path()));
    EXPECT_THAT(figures.drop_reason->message(), HasSubstr(" bytes are free there"));
    EXPECT_THAT(figures.drop_reason->message(), Not(HasSubstr("--spool-bytes")));
    const Status refused = spool->Add(KeyOf(4), std::string(600 << 10, 'y'));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().sys_errno(), ENOSPC);
    EXPECT_EQ(spool->figures().dropped_objects, 4u) << "there was nothing left to drop";
    EXPECT_TRUE(spool->Add(KeyOf(5), large)) << "and then it goes on";
  }
}

TEST_F(SpoolTest, IsMovedBesideWhatCannotBeRead) {
  {
    const auto spool = Open();
    for (int window = 0; window < 4; ++window)
      ASSERT_TRUE(spool->Add(KeyOf(window), BundleOf({Row("shop", "cart", "web", kFirstWindow)})));
  }
  const auto left = *Spool::OpenLeftover(folder_.path() + "/spool");
  ASSERT_NE(left, nullptr);
  const std::string pending = folder_.path() + "/spool/pending/";
  std::filesystem::remove(pending + KeyOf(0));  // by another daemon, say
  std::filesystem::remove(pending + KeyOf(1));
  std::filesystem::create_directory(pending + KeyOf(1));  // no file that anybody can read
  testing::MemoryStore store;
  const auto moved = DrainSpool(*left, store, Clock::System(), INT64_MAX);
  EXPECT_FALSE(moved);
  EXPECT_THAT(Keys(store), ElementsAre(KeyOf(2), KeyOf(3)));
  EXPECT_EQ(left->Oldest(), KeyOf(1));
}

TEST_F(SpoolTest, OfNobodyIsNoneAndOneThatCannotBeLookedAtIsTold) {
  const auto none = Spool::OpenLeftover(folder_.path() + "/nothing");
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
  std::filesystem::create_directory(folder_.path() + "/loop");
  std::filesystem::create_symlink("pending", folder_.path() + "/loop/pending");
  EXPECT_FALSE(Spool::OpenLeftover(folder_.path() + "/loop"));
}

class SpooledStoreTest : public SpoolTest {
 protected:
  std::unique_ptr<Spool> spool_ = Open();
  testing::MemoryStore remote_;
  int notified_ = 0;
  SpooledStore store_{*spool_, remote_, [this] { ++notified_; }};
  const ObjectStore& read_ = store_;
};

TEST_F(SpooledStoreTest, PutsIntoTheSpoolAlone) {
  ASSERT_TRUE(store_.Put(KeyOf(0), "bytes"));
  EXPECT_THAT(remote_.objects, IsEmpty());
  EXPECT_EQ(spool_->Oldest(), KeyOf(0));
  EXPECT_EQ(notified_, 1);
  EXPECT_EQ(*read_.Get(KeyOf(0)), "bytes");
  EXPECT_EQ(*read_.Size(KeyOf(0)), 5u);
  EXPECT_EQ(*read_.GetRange(KeyOf(0), 1, 3), "yte");
}

TEST_F(SpooledStoreTest, ReadsWhatIsInEither) {
  remote_.objects[KeyOf(0)] = "stored";
  EXPECT_EQ(*read_.Get(KeyOf(0)), "stored");
  EXPECT_EQ(*read_.Size(KeyOf(0)), 6u);
  EXPECT_EQ(*read_.GetRange(KeyOf(0), 0, 2), "st");
  EXPECT_EQ(read_.Get(KeyOf(1)).error().code(), ErrorCode::kNotFound);
}

TEST_F(SpooledStoreTest, ListsBothInOrderAndNothingTwice) {
  remote_.objects[KeyOf(0)] = remote_.objects[KeyOf(2)] = "x";
  for (int64_t window : {1, 2, 3}) ASSERT_TRUE(store_.Put(KeyOf(window), "x"));
  EXPECT_THAT(Keys(store_), ElementsAre(KeyOf(0), KeyOf(1), KeyOf(2), KeyOf(3)));
  const auto page = *store_.List("v1/", KeyOf(0), 2);
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[1].key, KeyOf(2));
  EXPECT_THAT(*store_.ListFolders("v1/"), ElementsAre("standard"));
}

TEST_F(SpooledStoreTest, ReadsTheEndOfWhatIsInEither) {
  remote_.objects[KeyOf(0)] = "stored";
  ASSERT_TRUE(store_.Put(KeyOf(1), "spooled"));
  const auto stored = read_.GetTail(KeyOf(0), 2), spooled = read_.GetTail(KeyOf(1), 100);
  ASSERT_TRUE(stored && spooled);
  EXPECT_EQ(stored->bytes, "ed");
  EXPECT_EQ(stored->object_size, 6u);
  EXPECT_EQ(spooled->bytes, "spooled");
  EXPECT_EQ(read_.GetTail(KeyOf(2), 1).error().code(), ErrorCode::kNotFound);
}

TEST_F(SpooledStoreTest, EndsWhenItsLimitsSaySo) {
  ASSERT_TRUE(store_.Put(KeyOf(0), "x"));
  std::stop_source stop;
  const auto limited = read_.Limited({.stop = stop.get_token()});
  EXPECT_EQ(*limited->Get(KeyOf(0)), "x");
  stop.request_stop();
  EXPECT_EQ(limited->Get(KeyOf(0)).error().code(), ErrorCode::kUnavailable);
}

TEST_F(SpooledStoreTest, DeletesFromBoth) {
  remote_.objects[KeyOf(0)] = "x";
  ASSERT_TRUE(store_.Put(KeyOf(0), "x"));
  ASSERT_TRUE(store_.Delete(KeyOf(0)));
  EXPECT_THAT(Keys(store_), IsEmpty());
}

}  // namespace
}  // namespace firetower::store
