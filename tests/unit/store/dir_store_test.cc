// SPDX-License-Identifier: Apache-2.0
#include "store/dir_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "store/access/file_source.h"
#include "tests/support/stored_profiles.h"

namespace firetower::store {
namespace {

using ::firetower::testing::ScratchFolder;
using ::firetower::testing::StoreFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Keys(const ObjectStore& store, std::string_view prefix,
                              std::string_view start_after = "", size_t limit = 1000) {
  std::vector<std::string> keys;
  auto listed = store.List(prefix, start_after, limit);
  EXPECT_TRUE(listed);
  for (const ObjectInfo& info : *listed) keys.push_back(info.key);
  return keys;
}

TEST(DirStore, GivesBackWhatWasPut) {
  StoreFolder folder;
  DirStore& store = folder.store();
  ASSERT_TRUE(store.Put("v1/a/b.zip", "hello"));
  EXPECT_EQ(*store.Get("v1/a/b.zip"), "hello");
  EXPECT_EQ(*store.GetRange("v1/a/b.zip", 1, 3), "ell");
  EXPECT_EQ(*store.Size("v1/a/b.zip"), 5u);
  ASSERT_TRUE(store.Put("v1/a/b.zip", "again"));
  EXPECT_EQ(*store.Get("v1/a/b.zip"), "again");
}

TEST(DirStore, TellsAbsentFromBroken) {
  StoreFolder folder;
  DirStore& store = folder.store();
  ASSERT_TRUE(store.Put("a/b", "12345"));
  EXPECT_EQ(store.Get("a/c").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.Size("a/c").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.Size("a").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(store.GetRange("a/b", 3, 3).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(store.GetRange("a/b", 0, UINT64_MAX).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(store.GetRange("a/b", UINT64_MAX, 2).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(store.Get("a/b", 4).error().code(), ErrorCode::kExhausted);
}

TEST(DirStore, RefusesKeysThatLeaveIt) {
  StoreFolder folder;
  for (const char* key : {"../x", "/etc/passwd", "a/../../x", "", "a//b", "a/b.tmp-1-1"}) {
    EXPECT_EQ(folder.store().Put(key, "x").error().code(), ErrorCode::kInvalid) << key;
    EXPECT_EQ(folder.store().Get(key).error().code(), ErrorCode::kInvalid) << key;
    EXPECT_EQ(folder.store().Delete(key).error().code(), ErrorCode::kInvalid) << key;
  }
  EXPECT_FALSE(folder.store().List("../", ""));
  EXPECT_FALSE(folder.store().ListFolders("../"));
}

TEST(DirStore, ListsInTheOrderOfWholeKeys) {
  StoreFolder folder;
  DirStore& store = folder.store();
  std::set<std::string> expected;  // std::string orders by bytes, as S3 does
  for (const char* key : {"a/x", "a-b/x", "a.b", "a/y/z", "a0", "b/x", "a/y-z", "a"}) {
    if (std::string(key) == "a") continue;  // a folder of that name exists
    ASSERT_TRUE(store.Put(key, "1"));
    expected.insert(key);
  }
  EXPECT_EQ(Keys(store, ""), std::vector<std::string>(expected.begin(), expected.end()));
  // Paging one by one finds the same.
  std::vector<std::string> paged;
  for (std::string last;;) {
    auto page = Keys(store, "", last, 1);
    if (page.empty()) break;
    paged.push_back(last = page[0]);
  }
  EXPECT_EQ(paged, std::vector<std::string>(expected.begin(), expected.end()));
  EXPECT_THAT(Keys(store, "a/y"), ElementsAre("a/y-z", "a/y/z"));
  EXPECT_THAT(Keys(store, "a/", "a/x"), ElementsAre("a/y-z", "a/y/z"));
  EXPECT_THAT(Keys(store, "nothing/here"), ElementsAre());
  EXPECT_THAT(*store.ListFolders(""), ElementsAre("a-b", "a", "b"));
  EXPECT_THAT(*store.ListFolders("a/"), ElementsAre("y"));
}

TEST(DirStore, RemovesFoldersThatBecameEmpty) {
  StoreFolder folder;
  DirStore& store = folder.store();
  ASSERT_TRUE(store.Put("a/b/c/d", "1"));
  ASSERT_TRUE(store.Put("a/e", "1"));
  ASSERT_TRUE(store.Delete("a/b/c/d"));
  EXPECT_FALSE(std::filesystem::exists(folder.PathOf("a/b")));
  EXPECT_TRUE(store.Get("a/e"));
  EXPECT_TRUE(store.Delete("a/b/c/d"));  // twice is fine
  ASSERT_TRUE(store.Delete("a/e"));
  EXPECT_TRUE(std::filesystem::exists(store.root()));
}

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(DirStore, LetsNobodyElseRead) {
  const ScratchFolder folder;
  const mode_t mask = ::umask(0);  // of the strangest supervisor
  const std::string group = folder.path() + "/deep/group";
  const std::string owner = folder.path() + "/deep/owner";
  const auto shared = DirStore::Open(group);
  const auto own = DirStore::Open(owner, DirAccess::kOwner);
  ASSERT_TRUE(shared && own);
  const std::string file = folder.path() + "/file";
  std::ofstream(file) << "bytes";
  ASSERT_TRUE((*shared)->Put("v1/a/b", "x"));
  ASSERT_TRUE((*shared)->PutFrom("v1/a/c", *FileSource::Open(file)));
  ASSERT_TRUE((*own)->Put("v1/a/b", "x"));
  ASSERT_TRUE((*own)->Put("v1/d/e", "x"));
  const auto elsewhere = DirStore::Open(folder.path() + "/copies", DirAccess::kOwner);
  ASSERT_TRUE(elsewhere && (*own)->MoveTo(**elsewhere, "v1/d/e"));
  ::umask(mask);
  for (const char* path : {"", "/v1", "/v1/a"}) {
    EXPECT_EQ(ModeOf(group + path), 0750u) << path;
    EXPECT_EQ(ModeOf(owner + path), 0700u) << path;
  }
  EXPECT_EQ(ModeOf(group + "/v1/a/b"), 0640u);
  EXPECT_EQ(ModeOf(group + "/v1/a/c"), 0640u);
  EXPECT_EQ(ModeOf(owner + "/v1/a/b"), 0600u);
  EXPECT_EQ(ModeOf(folder.path() + "/copies/v1/d"), 0700u);
  EXPECT_EQ(ModeOf(folder.path() + "/copies/v1/d/e"), 0600u);
}

TEST(DirStore, LeavesTheModeOfAFolderThatIsThere) {
  const ScratchFolder folder;
  const std::string root = folder.path() + "/given";
  ASSERT_EQ(::mkdir(root.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(root.c_str(), 02775), 0);
  ASSERT_TRUE(DirStore::Open(root));
  EXPECT_EQ(ModeOf(root), 02775u);
}

TEST(DirStore, NeverServesUnfinishedFilesAndSweepsThem) {
  ScratchFolder folder;
  std::string root = folder.path() + "/s";
  std::filesystem::create_directories(root + "/a");
  // A pid that is gone: a child that has been waited for.
  pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::string dead = root + "/a/b.zip.tmp-" + std::to_string(child) + "-1";
  std::string alive = root + "/a/c.zip.tmp-" + std::to_string(::getppid()) + "-1";
  std::ofstream(dead) << "half";
  std::ofstream(alive) << "half";
  auto store = DirStore::Open(root);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->swept_files(), 1u);
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(alive));  // its writer may be at work
  EXPECT_THAT(Keys(**store, ""), ElementsAre());
  // An object whose name only looks similar is served, listed and never swept.
  std::string similar = "a.tmp-1-1/side.tmp-car.pb.gz";
  ASSERT_TRUE((*store)->Put(similar, "whole"));
  std::filesystem::last_write_time(
      root + "/" + similar,
      std::filesystem::file_time_type::clock::now() - std::chrono::minutes(5));
  EXPECT_EQ((*DirStore::Open(root))->swept_files(), 0u);
  EXPECT_EQ(*(*store)->Get(similar), "whole");
  EXPECT_THAT(Keys(**store, ""), ElementsAre(similar));
  // In a container every daemon is pid 1: age tells then.
  std::filesystem::last_write_time(
      alive, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(5));
  EXPECT_EQ((*DirStore::Open(root))->swept_files(), 1u);
  EXPECT_FALSE(std::filesystem::exists(alive));
}

TEST(DirStore, KilledAtAnyPointLeavesOldOrNew) {
  ScratchFolder folder;
  std::string root = folder.path() + "/s";
  std::string old_bytes(300'000, 'o');
  std::string new_bytes(300'000, 'n');
  for (int round = 0; round < 25; ++round) {
    {
      auto store = DirStore::Open(root);
      ASSERT_TRUE(store);
      ASSERT_TRUE((*store)->Put("a/b", old_bytes));
    }
    pid_t child = ::fork();
    if (child == 0) {
      auto store = DirStore::Open(root);
      while (store) (void)(*store)->Put("a/b", new_bytes);
      ::_exit(1);
    }
    ::usleep(static_cast<useconds_t>(round * 300));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto store = DirStore::Open(root);
    ASSERT_TRUE(store);
    auto bytes = (*store)->Get("a/b");
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(*bytes == old_bytes || *bytes == new_bytes) << round;
    EXPECT_THAT(Keys(**store, ""), ElementsAre("a/b"));
  }
}

TEST(DirStore, PutsWhileFoldersAreDeleted) {
  StoreFolder folder;
  DirStore& store = folder.store();
  std::jthread deleter([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)store.Delete("x/y/other");
  });
  for (int i = 0; i < 50; ++i) {
    for (const char* key : {"x/y/other", "x/y/mine"}) {
      Status put = store.Put(key, "1");
      EXPECT_TRUE(put) << put.error().message();
    }
    EXPECT_TRUE(store.Delete("x/y/mine"));
  }
}

TEST(OpenStore, SaysWhichUrlsAreAllowed) {
  ScratchFolder folder;
  auto store = OpenStore("file://" + folder.path() + "/s/");
  ASSERT_TRUE(store) << store.error().message();
  EXPECT_EQ((*store)->Describe(), "file://" + folder.path() + "/s");
  for (const char* url : {"", "/var/lib/x", "gs://bucket", "file://relative/x", "file:///a?b=c"}) {
    auto refused = OpenStore(url);
    ASSERT_FALSE(refused) << url;
    EXPECT_THAT(refused.error().message(), HasSubstr("allowed are file:///DIR"));
    EXPECT_THAT(refused.error().message(), HasSubstr("s3://BUCKET"));
    EXPECT_FALSE(CheckStoreUrl(url)) << url;
  }
  EXPECT_TRUE(CheckStoreUrl("file:///srv/x"));
  EXPECT_TRUE(CheckStoreUrl("s3://bucket/prefix?region=eu-west-1"));
  EXPECT_THAT(OpenStore("s3://bucket?regoin=x").error().message(), HasSubstr("unknown option"));
}

}  // namespace
}  // namespace firetower::store
