// SPDX-License-Identifier: Apache-2.0
// Samples of cgroups without a birth record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/daemon/pipeline/resolver_fixture.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::AddBody;
using ::firetower::testing::AddCgroup;
using ::firetower::testing::AddTask;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kStray = 77;

class PendingTest : public ResolverTest {
 protected:
  PendingTest() {
    Start(7);
    AddBody(round_, {.hash = 1, .tgid = 7, .kernel = {0xffffffff81000100}, .user = {0x10010}});
  }
  void SampleStray(uint64_t value = 10) {
    Sample(1, kStray, 7, value);
    Process();
  }
  void Tick(int64_t after_ns) {
    clock_.Advance(after_ns);
    resolver_.Tick();
  }
};

TEST_F(PendingTest, WaitThirtySecondsAndAreThenUnknown) {
  SampleStray();
  Tick(0);
  Tick(Resolver::kPendingNs - 1);
  EXPECT_EQ(resolver_.pending(), 1u);
  EXPECT_THAT(RowContainers(), IsEmpty());
  Tick(1);
  EXPECT_EQ(resolver_.pending(), 0u);
  EXPECT_THAT(RowContainers(), ElementsAre("unknown"));
  EXPECT_EQ(slice().attribution.unknown, 1u);
  EXPECT_EQ(FramesOfRow(0).size(), 2u);
  EXPECT_EQ(slice().rows[0].amount.value, 10u);
  EXPECT_GE(Resolver::kPendingNs, 30 * kNsPerSecond) << "what the architecture promises (D1)";
}

TEST_F(PendingTest, AreAttributedWhenTheKernelTells) {
  SampleStray();
  AddCgroup(round_, kStartNs, FT_CGROUP_MKDIR, kStray, kAppPath);
  Process();
  Tick(kNsPerSecond);
  EXPECT_THAT(RowContainers(), ElementsAre(app_label_));
  EXPECT_EQ(resolver_.pending(), 0u);
  EXPECT_EQ(slice().attribution.container, 1u);
  EXPECT_EQ(slice().attribution.unknown, 0u);
}

TEST_F(PendingTest, AreAttributedWhenTheTreeTells) {
  std::string path = mount_.path() + kAppPath;
  std::filesystem::create_directories(path);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  Sample(1, info.st_ino, 7);
  Process();
  EXPECT_EQ(resolver_.pending(), 1u);
  Tick(0);
  EXPECT_THAT(RowContainers(), ElementsAre(app_label_));
}

TEST_F(PendingTest, LetTheTreeBeReadOnceASecond) {
  SampleStray();
  Tick(0);
  size_t before = cgroups_.size();
  std::filesystem::create_directories(mount_.path() + kCronPath);
  Tick(kNsPerSecond - 1);
  EXPECT_EQ(cgroups_.size(), before);
  Tick(1);
  EXPECT_EQ(cgroups_.size(), before + 2);
}

TEST_F(PendingTest, AreResolvedWhileTheirProcessLives) {
  SampleStray();
  AddTask(round_, kStartNs, SidebandKind::kExit, 7);
  for (int i = 0; i < 5; ++i) Process();
  cgroups_.Add(kStray, kAppPath);
  Tick(kNsPerSecond);
  ASSERT_EQ(slice().rows.size(), 1u);
  EXPECT_EQ(PathOf(FramesOfRow(0).at(1)), "/bin/app");
}

TEST_F(PendingTest, GoIntoTheLastSliceAtTheEnd) {
  SampleStray();
  resolver_.Tick(true);
  EXPECT_EQ(resolver_.pending(), 0u);
  EXPECT_THAT(RowContainers(), ElementsAre("unknown"));
}

TEST_F(PendingTest, SayThatTheirStackIsLost) {
  Sample(99, kStray, 7);
  Process();
  resolver_.Tick(true);
  EXPECT_EQ(StopOfRow(0), kStopStackLost);
  EXPECT_EQ(slice().stops[kStopStackLost], 1u);
}

TEST_F(PendingTest, AreUnknownAtOnceBeyondTheirNumber) {
  Process();
  for (size_t i = 0; i < Resolver::kMaxPending + 3; ++i) Sample(1, kStray, 7, 2);
  Process();
  EXPECT_EQ(resolver_.pending(), Resolver::kMaxPending);
  EXPECT_EQ(slice().attribution.unknown, 3u);
  ASSERT_EQ(slice().rows.size(), 1u);
  EXPECT_EQ(slice().rows[0].amount.value, 6u);
}

TEST_F(PendingTest, AskWhatThePoliciesSay) {
  Select({{sidecar_label_, Sampled()}});
  SampleStray();
  cgroups_.Add(kStray, kAppPath);
  Tick(kNsPerSecond);
  EXPECT_EQ(resolver_.pending(), 0u);
  EXPECT_THAT(RowContainers(), IsEmpty());
  EXPECT_EQ(resolver_.not_selected(), 1u);
}

TEST_F(PendingTest, KeepThePartsThatThePoliciesAskFor) {
  Select({{app_label_, Sampled(StackParts::kKernel)},
          {sidecar_label_, Sampled(StackParts::kUser)},
          {"cron.service", Sampled()}});
  for (uint64_t stray : {101u, 102u, 103u}) Sample(1, stray, 7);
  Process();
  cgroups_.Add(101, kAppPath);
  cgroups_.Add(102, kSidecarPath);
  cgroups_.Add(103, kCronPath);
  Tick(kNsPerSecond);
  ASSERT_THAT(RowContainers(), ElementsAre(app_label_, sidecar_label_, "cron.service"));
  EXPECT_THAT(FramesOfRow(0), ElementsAre(Frame{ModuleRegistry::kKernel, 0, 0xffffffff81000100}));
  EXPECT_EQ(StopOfRow(0), FT_STOP_NO_USER);
  ASSERT_EQ(FramesOfRow(1).size(), 1u);
  EXPECT_EQ(PathOf(FramesOfRow(1)[0]), "/bin/app");
  EXPECT_EQ(FramesOfRow(2).size(), 2u);
}

TEST_F(PendingTest, FindACgroupWhosePathDidNotFitItsRecord) {
  std::string path = mount_.path() + kAppPath;
  std::filesystem::create_directories(path);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  AddCgroup(round_, kStartNs, FT_CGROUP_MKDIR, info.st_ino, "/kubepods/burst", true);
  Process();
  EXPECT_EQ(cgroups_.Find(info.st_ino), nullptr);
  Tick(0);
  ASSERT_NE(cgroups_.Find(info.st_ino), nullptr) << "before it has a sample";
  EXPECT_EQ(cgroups_.Find(info.st_ino)->path, kAppPath);
}

}  // namespace
}  // namespace firetower::daemon
