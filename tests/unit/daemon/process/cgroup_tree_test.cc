// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/cgroup_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/clock.h"
#include "tests/support/command.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::ScratchFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::string kDigits(64, 'a');
const std::string kPod =
    "/kubepods.slice/kubepods-burstable.slice/"
    "kubepods-burstable-pod12345678_1234_1234_1234_123456789abc.slice";
const std::string kContainer = kPod + "/cri-containerd-" + kDigits + ".scope";

uint64_t InodeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_ino;
}

TEST(CgroupTree, ReadsTheMountedTreeWithInodesForIds) {
  ScratchFolder mount;
  std::filesystem::create_directories(mount.path() + kContainer + "/init/deep");
  std::filesystem::create_directories(mount.path() + "/system.slice/cron.service");
  CgroupTree tree(mount.path());
  ASSERT_TRUE(tree.Scan());
  EXPECT_EQ(tree.size(), 9u);
  const CgroupNode* root = tree.Find(InodeOf(mount.path()));
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root->path, "/");
  const CgroupNode* container = tree.Find(InodeOf(mount.path() + kContainer));
  ASSERT_NE(container, nullptr);
  EXPECT_EQ(container->path, kContainer);
  EXPECT_TRUE(container->container->InContainer());
  EXPECT_EQ(container->container->path.container_id, kDigits);
  EXPECT_EQ(container->container->root_path, kContainer);
  const CgroupNode* cron = tree.Find(InodeOf(mount.path() + "/system.slice/cron.service"));
  ASSERT_NE(cron, nullptr);
  EXPECT_EQ(cron->container->labels.container, "cron.service");
  EXPECT_FALSE(cron->container->InContainer());
}

TEST(CgroupTree, CountsDescendantsToTheirContainer) {
  CgroupTree tree("/nowhere");
  tree.Add(1, kContainer);
  tree.Add(2, kContainer + "/init");
  tree.Add(3, kContainer + "/system.slice/nginx.service");
  tree.Add(4, kPod);
  EXPECT_EQ(tree.Find(2)->container, tree.Find(1)->container);
  EXPECT_EQ(tree.Find(3)->container, tree.Find(1)->container);
  EXPECT_NE(tree.Find(4)->container, tree.Find(1)->container);
  EXPECT_EQ(tree.Find(3)->path, kContainer + "/system.slice/nginx.service");
}

TEST(CgroupTree, GivesPlainHostCgroupsOneContainer) {
  CgroupTree tree("/nowhere");
  tree.Add(1, "");
  tree.Add(2, "/my-group");
  EXPECT_EQ(tree.Find(1)->path, "/");
  EXPECT_EQ(tree.Find(1)->container, tree.Find(2)->container);
  EXPECT_EQ(tree.Find(1)->container->labels.container, "host");
}

TEST(CgroupTree, KeepsARemovedCgroupForAMinute) {
  CgroupTree tree("/nowhere");
  tree.Add(1, kContainer);
  tree.Add(2, "/system.slice/cron.service");
  const int64_t removed_ns = 5 * kNsPerSecond;
  tree.Remove(1, removed_ns);
  tree.Remove(99, removed_ns);  // Nobody told of its birth.
  EXPECT_THAT(tree.Sweep(removed_ns + 60 * kNsPerSecond - 1), IsEmpty());
  ASSERT_NE(tree.Find(1), nullptr);
  EXPECT_EQ(tree.Find(1)->removed_ns, removed_ns);
  EXPECT_THAT(tree.Sweep(removed_ns + 60 * kNsPerSecond), ElementsAre(1));
  EXPECT_EQ(tree.Find(1), nullptr);
  EXPECT_NE(tree.Find(2), nullptr);
}

TEST(CgroupTree, FindsWhatIsGoneWithoutARecord) {
  ScratchFolder mount;
  std::filesystem::create_directories(mount.path() + "/a.service/deep");
  std::filesystem::create_directories(mount.path() + "/b.service");
  CgroupTree tree(mount.path());
  ASSERT_TRUE(tree.Scan());
  EXPECT_THAT(tree.Missing(), IsEmpty());
  tree.Add(~uint64_t{1}, "/a.service");  // another cgroup has its path by now
  tree.Add(~uint64_t{2}, "/never.service");
  tree.Remove(~uint64_t{2}, 1);
  uint64_t deep = InodeOf(mount.path() + "/a.service/deep");
  std::filesystem::remove(mount.path() + "/a.service/deep");
  EXPECT_THAT(tree.Missing(), UnorderedElementsAre(deep, ~uint64_t{1}));
}

TEST(CgroupTree, KeepsACgroupThatIsThereAgain) {
  CgroupTree tree("/nowhere");
  tree.Add(1, kContainer);
  tree.Remove(1, 1);
  tree.Add(1, kContainer);
  EXPECT_THAT(tree.Sweep(100 * kNsPerSecond), IsEmpty());
  EXPECT_NE(tree.Find(1), nullptr);
}

TEST(CgroupTree, FollowsARename) {
  CgroupTree tree("/nowhere");
  tree.Add(1, "/system.slice/old.service");
  tree.Rename(1, kContainer);
  EXPECT_EQ(tree.size(), 1u);
  EXPECT_EQ(tree.Find(1)->path, kContainer);
  EXPECT_TRUE(tree.Find(1)->container->InContainer());
}

TEST(CgroupTree, DoesNotForgetWhatAScanFindsAgain) {
  ScratchFolder mount;
  std::filesystem::create_directories(mount.path() + "/a.service");
  CgroupTree tree(mount.path());
  ASSERT_TRUE(tree.Scan());
  auto before = tree.Find(InodeOf(mount.path() + "/a.service"))->container;
  std::filesystem::create_directories(mount.path() + "/b.service");
  ASSERT_TRUE(tree.Scan());
  EXPECT_EQ(tree.size(), 3u);
  EXPECT_EQ(tree.Find(InodeOf(mount.path() + "/a.service"))->container, before);
}

TEST(CgroupTree, StopsAtItsCap) {
  ScratchFolder mount;
  CgroupTree tree(mount.path());
  for (uint64_t id = 1; id <= CgroupTree::kMaxNodes + 10; ++id) {
    tree.Add(~id, "/g" + std::to_string(id % 3) + ".service");
  }
  EXPECT_EQ(tree.size(), CgroupTree::kMaxNodes);
  EXPECT_EQ(tree.refused(), 10u);
  EXPECT_EQ(tree.Find(~(CgroupTree::kMaxNodes + 1)), nullptr);
  tree.Add(~uint64_t{1}, kContainer);  // One that is known may still change.
  EXPECT_TRUE(tree.Find(~uint64_t{1})->container->InContainer());
  Status scanned = tree.Scan();
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().code(), ErrorCode::kExhausted);
}

}  // namespace
}  // namespace firetower::daemon
