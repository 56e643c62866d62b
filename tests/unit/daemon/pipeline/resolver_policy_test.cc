// SPDX-License-Identifier: Apache-2.0
// Tests of the effect that policies in force have on samples and gates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/daemon/pipeline/resolver_fixture.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::AddBody;
using ::firetower::testing::AddCgroup;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ResolverPolicyTest : public ResolverTest {
 protected:
  ResolverPolicyTest() {
    Start(7);
    AddBody(round_, {.hash = 1,
                     .tgid = 7,
                     .kernel = {0xffffffff81000100},
                     .user = {0x10010},
                     .stop = FT_STOP_PAGE});
  }
};

TEST_F(ResolverPolicyTest, CountsWhatNobodySelected) {
  Select({{sidecar_label_, Sampled()}});
  Sample(1, kApp, 7);
  Sample(1, kApp, 7);
  Sample(1, kSidecar, 7);
  Process();
  EXPECT_THAT(RowContainers(), ElementsAre(sidecar_label_));
  EXPECT_EQ(resolver_.not_selected(), 2u);
  EXPECT_EQ(slice().attribution.container, 1u);
}

TEST_F(ResolverPolicyTest, KeepsThePartsThatAreAskedFor) {
  Select(
      {{app_label_, Sampled(StackParts::kKernel)}, {"cron.service", Sampled(StackParts::kUser)}});
  Sample(1, kApp, 7);
  Process();
  EXPECT_THAT(FramesOfRow(0), ElementsAre(Frame{ModuleRegistry::kKernel, 0, 0xffffffff81000100}));
  EXPECT_EQ(StopOfRow(0), FT_STOP_NO_USER) << "whole, as far as it was asked for";
}

TEST_F(ResolverPolicyTest, KeepsUserPartsAlone) {
  Select({{app_label_, Sampled(StackParts::kUser)}});
  Sample(1, kApp, 7);
  Process();
  ASSERT_EQ(FramesOfRow(0).size(), 1u);
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/bin/app");
  EXPECT_EQ(StopOfRow(0), FT_STOP_PAGE);
}

// Threads of one process may be in cgroups of their own (cgroup v1, threaded v2): one stack, one
// slice, two answers.
TEST_F(ResolverPolicyTest, ResolvesAStackAnewForOtherParts) {
  Select({{app_label_, Sampled(StackParts::kKernel)},
          {sidecar_label_, Sampled(StackParts::kUser)},
          {"cron.service", Sampled()}});
  Sample(1, kApp, 7);
  Sample(1, kSidecar, 7);
  Sample(1, kCron, 7);
  Sample(1, kApp, 7);
  Process();
  ASSERT_THAT(RowContainers(), ElementsAre(app_label_, sidecar_label_, "cron.service"));
  EXPECT_EQ(slice().rows[0].amount.count, 2u);
  EXPECT_THAT(FramesOfRow(0), ElementsAre(Frame{ModuleRegistry::kKernel, 0, 0xffffffff81000100}));
  ASSERT_EQ(FramesOfRow(1).size(), 1u);
  EXPECT_EQ(PathOf(FramesOfRow(1)[0]), "/bin/app");
  EXPECT_EQ(FramesOfRow(2).size(), 2u);
}

TEST_F(ResolverPolicyTest, FollowsAChangeOfPolicyWithinASlice) {
  Select({{app_label_, Sampled()}});
  Sample(1, kApp, 7);
  Process();
  Select({{app_label_, Sampled(StackParts::kKernel)}});
  Sample(1, kApp, 7);
  Process();
  ASSERT_EQ(slice().rows.size(), 2u);
  EXPECT_EQ(FramesOfRow(1).size(), 1u);
}

TEST_F(ResolverPolicyTest, GatesEveryKnownCgroup) {
  Decision slow = Sampled();
  slow.frequency_hz = 19;
  Select({{app_label_, slow}});
  ASSERT_EQ(peers_.gates.size(), 4u);
  EXPECT_EQ(peers_.gates[kApp].decision, slow);
  EXPECT_TRUE(peers_.gates[kApp].is_container);
  EXPECT_FALSE(peers_.gates[kSidecar].decision.sampled);
  EXPECT_TRUE(peers_.gates[kSidecar].is_container);
  EXPECT_FALSE(peers_.gates[kCron].is_container);
  EXPECT_FALSE(peers_.gates[kRoot].is_container);
}

TEST_F(ResolverPolicyTest, DoesNotGateTheRemoved) {
  cgroups_.Remove(kApp, kStartNs);
  Select({{app_label_, Sampled()}});
  EXPECT_EQ(peers_.gates.count(kApp), 0u);
  EXPECT_EQ(peers_.gates.count(kSidecar), 1u);
}

TEST_F(ResolverPolicyTest, GatesNewbornCgroups) {
  Select({{app_label_, Sampled()}});
  peers_.gates.clear();
  AddCgroup(round_, kStartNs - 3, FT_CGROUP_MKDIR, 50, kAppPath + "/nested");
  AddCgroup(round_, kStartNs - 2, FT_CGROUP_MKDIR, 51, kPodPath + "/" + std::string(64, 'c'));
  AddCgroup(round_, kStartNs - 1, FT_CGROUP_MKDIR, 52, kPodPath);
  Process();
  ASSERT_EQ(peers_.gates.size(), 3u);
  EXPECT_TRUE(peers_.gates[50].decision.sampled);
  EXPECT_TRUE(peers_.gates[50].is_container);
  EXPECT_FALSE(peers_.gates[51].decision.sampled);
  EXPECT_TRUE(peers_.gates[51].is_container);
  // A pod's own cgroup must not decide for the containers that are born below it.
  EXPECT_FALSE(peers_.gates[52].is_container);
}

TEST_F(ResolverPolicyTest, DecidesAnewForARenamedCgroup) {
  Select({{app_label_, Sampled()}});
  AddCgroup(round_, kStartNs - 1, FT_CGROUP_MKDIR, 50, kCronPath + "/x");
  Process();
  EXPECT_FALSE(peers_.gates[50].decision.sampled);
  AddCgroup(round_, kStartNs - 1, FT_CGROUP_RENAME, 50, kAppPath + "/x");
  Process();
  EXPECT_TRUE(peers_.gates[50].decision.sampled);
}

TEST_F(ResolverPolicyTest, LeavesNewbornCgroupsToTheKernelWithoutPolicies) {
  peers_.gates.clear();
  AddCgroup(round_, kStartNs - 1, FT_CGROUP_MKDIR, 50, kPodPath + "/" + std::string(64, 'c'));
  Sample(1, 50, 7);
  Process();
  EXPECT_THAT(peers_.gates, IsEmpty());
  EXPECT_EQ(slice().attribution.container, 1u);
}

// The record of a birth comes up to a round late; the kernel side knows which cgroups have ended
// since.
TEST_F(ResolverPolicyTest, LeavesToTheKernelWhetherAToldCgroupIsStillThere) {
  Select({{app_label_, Sampled()}});
  AddCgroup(round_, kStartNs - 1, FT_CGROUP_MKDIR, 50, kAppPath + "/x");
  Process();
  EXPECT_TRUE(peers_.gates.at(50).told);
  EXPECT_FALSE(peers_.gates.at(kApp).told) << "read from the tree: the kernel side has none of it";
}

TEST_F(ResolverPolicyTest, TakesTheRemovedOutOfTheGate) {
  Select({{app_label_, Sampled()}});
  AddCgroup(round_, kStartNs - 2, FT_CGROUP_RMDIR, kApp, kAppPath);
  AddCgroup(round_, kStartNs - 1, FT_CGROUP_RMDIR, 99, "/died/before/it/was/told");
  Process();
  EXPECT_THAT(peers_.ungated, ElementsAre(kApp, 99));
  EXPECT_EQ(peers_.gates.count(kApp), 0u);
  peers_.ungated.clear();
  clock_.Advance(CgroupTree::kKeepRemovedNs);
  resolver_.Tick();
  EXPECT_THAT(peers_.ungated, ElementsAre(kApp)) << "and once more when it is forgotten";
}

TEST_F(ResolverPolicyTest, FindsOutWhatDiedUntold) {
  Select({{app_label_, Sampled()}});
  resolver_.Tick();
  EXPECT_THAT(peers_.ungated, IsEmpty());
  // All but the root is gone from the mounted tree, and so are the records that said so.
  std::filesystem::create_directories(mount_.path() + kCronPath);
  struct stat info {};
  ASSERT_EQ(::stat((mount_.path() + kCronPath).c_str(), &info), 0);
  peers_.untold = 3;
  clock_.Advance(kNsPerSecond);
  resolver_.Tick();
  EXPECT_EQ(peers_.gates.count(kApp), 0u);
  EXPECT_NE(cgroups_.Find(kApp)->removed_ns, 0);
  EXPECT_EQ(slice().gone.size(), 4u) << "app, sidecar, root, and the cron that had another id";
  EXPECT_EQ(cgroups_.Find(info.st_ino)->removed_ns, 0);
  EXPECT_TRUE(peers_.gates.count(info.st_ino)) << "and what was born untold is found";
  size_t looked = peers_.ungated.size();
  clock_.Advance(kNsPerSecond);
  resolver_.Tick();
  EXPECT_EQ(peers_.ungated.size(), looked) << "once for each loss";
  // A record that comes all the same changes nothing.
  AddCgroup(round_, kStartNs, FT_CGROUP_RMDIR, kApp, kAppPath);
  Process();
  EXPECT_EQ(slice().gone.size(), 4u);
}

TEST_F(ResolverPolicyTest, TellsTheDecisionWithTheContainer) {
  Decision decision = Sampled();
  decision.policies = {"shop/cart"};
  decision.to_store = false;
  Select({{app_label_, decision}});
  Sample(1, kApp, 7);
  Process();
  ASSERT_EQ(slice().containers.size(), 1u);
  EXPECT_EQ(slice().containers[0].decision, decision);
}

}  // namespace
}  // namespace firetower::daemon
