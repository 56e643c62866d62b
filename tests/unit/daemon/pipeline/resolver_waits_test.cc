// SPDX-License-Identifier: Apache-2.0
// Waits: their stacks, labels and containers, and those that go on when a slice ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>

#include <cstring>

#include "tests/unit/daemon/pipeline/resolver_fixture.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::AddBody;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMs = kNsPerMs;

class ResolverWaitsTest : public ResolverTest {
 protected:
  ResolverWaitsTest() {
    Start(7);
    AddBody(round_, {.hash = 1, .tgid = 7, .kernel = {0xffffffff81000100}, .user = {0x10010}});
    Decision waits;
    waits.sampled = true;
    waits.min_wait_ns = kMs;
    resolver_.SetSelection(
        std::make_shared<LabelSelection>(std::map<std::string, Decision>{{app_label_, Sampled()}},
                                         std::map<std::string, Decision>{{app_label_, waits}}));
  }
  void Wait(int64_t begin_ns, int64_t end_ns, uint64_t cgroup_id = kApp) {
    ft_wait wait{};
    wait.sample =
        testing::SampleOf(end_ns, 1, cgroup_id, 7, static_cast<uint64_t>(end_ns - begin_ns));
    wait.sample.kind = FT_KIND_WAIT;
    wait.sample.type = FT_TYPE_OFFCPU;
    wait.begin_ns = static_cast<uint64_t>(begin_ns);
    wait.total_ns = wait.sample.value;
    wait.waits = 1;
    wait.state = FT_WAIT_SLEEPING;
    wait.types = 1 << FT_TYPE_OFFCPU;
    std::strcpy(reinterpret_cast<char*>(wait.waker_comm), "waker");
    round_.waits.push_back(wait);
  }
  static WaitingThread Waiting(int64_t begin_ns) {
    WaitingThread thread;
    thread.tid = 7;
    thread.wait.begin_ns = static_cast<uint64_t>(begin_ns);
    thread.wait.stack_hash = 1;
    thread.wait.cgroup_id = kApp;
    thread.wait.tgid = 7;
    thread.wait.state = FT_WAIT_SLEEPING;
    thread.wait.types = 1 << FT_TYPE_OFFCPU;
    return thread;
  }
  const Slice::Row& Row(size_t row) { return slice().rows.at(row); }
  Type TypeOf(size_t row) { return slice().containers.at(Row(row).container).type; }
};

TEST_F(ResolverWaitsTest, AreRowsOfTheirOwnType) {
  Sample(1, kApp, 7);
  Wait(kStartNs - 5 * kMs, kStartNs);
  Process();
  ASSERT_EQ(slice().rows.size(), 2u);
  EXPECT_THAT(RowContainers(), ElementsAre(app_label_, app_label_));
  EXPECT_EQ(TypeOf(0), FT_TYPE_CPU);
  EXPECT_EQ(TypeOf(1), FT_TYPE_OFFCPU);
  EXPECT_EQ(Row(1).amount.value, uint64_t{5 * kMs});
  EXPECT_EQ(Row(1).stack, Row(0).stack) << "one stack, whatever it is counted for";
  const TaskLabel& label = slice().labels.at(Row(1).label);
  EXPECT_EQ(WaitStateName(label.state), "sleeping");
  EXPECT_EQ(ToText(label.waker), "waker");
  EXPECT_EQ(WaitStateName(slice().labels.at(Row(0).label).state), "");
  EXPECT_EQ(slice().attribution.container, 1u) << "samples of CPU time alone";
}

TEST_F(ResolverWaitsTest, ForLocksCountTwiceAndHaveAHolder) {
  AddBody(round_, {.hash = 2, .tgid = 7, .user = {0x10020}});
  Wait(kStartNs - 5 * kMs, kStartNs);
  ft_wait& wait = round_.waits.back();
  wait.types = 1 << FT_TYPE_OFFCPU | 1 << FT_TYPE_LOCK;
  wait.futex = {.address = 0x1000,
                .op = FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
                .value = 2,
                .word = {2, 0, 9},
                .words = 1};
  wait.waker_stack = 2;
  wait.waker_tgid = 7;
  Process();
  ASSERT_EQ(slice().rows.size(), 2u);
  EXPECT_EQ(TypeOf(0), FT_TYPE_OFFCPU);
  EXPECT_EQ(TypeOf(1), FT_TYPE_LOCK);
  EXPECT_EQ(Row(1).amount.value, Row(0).amount.value);
  const TaskLabel& any = slice().labels.at(Row(0).label);
  EXPECT_EQ(any.futex, FutexUse::kNone);
  EXPECT_EQ(any.holder_stack, kNoStack);
  const TaskLabel& lock = slice().labels.at(Row(1).label);
  EXPECT_EQ(lock.futex, FutexUse::kMutex);
  EXPECT_EQ(ToText(lock.holder), "waker") << "thread 9 is not known";
  ASSERT_NE(lock.holder_stack, kNoStack);
  EXPECT_EQ(slice().stacks.at(lock.holder_stack).size, 1u);
}

// Another process cannot wake who waits for a private futex: a timer did, beside it.
TEST_F(ResolverWaitsTest, ForAPrivateLockHaveNoHolderOfAnotherProcess) {
  AddBody(round_, {.hash = 2, .tgid = 8, .user = {0x10020}});
  for (const uint32_t flags : {uint32_t{FUTEX_PRIVATE_FLAG}, 0u}) {
    Wait(kStartNs - 5 * kMs, kStartNs);
    ft_wait& wait = round_.waits.back();
    wait.types = 1 << FT_TYPE_LOCK;
    wait.futex.address = 0x1000;
    wait.futex.op = uint32_t{FUTEX_WAIT} | flags;
    wait.futex.value = 2;
    wait.waker_stack = 2;
    wait.waker_tgid = 8;
  }
  Process();
  ASSERT_EQ(slice().rows.size(), 2u);
  EXPECT_EQ(ToText(slice().labels.at(Row(0).label).holder), "");
  EXPECT_EQ(slice().labels.at(Row(0).label).holder_stack, kNoStack);
  EXPECT_EQ(ToText(slice().labels.at(Row(1).label).holder), "waker") << "a shared one";
}

TEST_F(ResolverWaitsTest, TheGateHasADecisionForEachType) {
  EXPECT_TRUE(peers_.gates.at(kApp).waits.sampled);
  EXPECT_EQ(peers_.gates.at(kApp).waits.min_wait_ns, kMs);
  EXPECT_FALSE(peers_.gates.at(kCron).waits.sampled);
}

TEST_F(ResolverWaitsTest, OfOtherContainersDoNotCount) {
  Wait(kStartNs - 5 * kMs, kStartNs, kSidecar);
  Process();
  EXPECT_THAT(RowContainers(), IsEmpty());
  EXPECT_EQ(resolver_.not_selected(), 1u);
}

TEST_F(ResolverWaitsTest, EndTheSliceInOrderWithSamples) {
  for (int64_t time : {-2, 0, 2}) {
    round_.samples.push_back(testing::SampleOf(kStartNs + time, 1, kApp, 7));
    Wait(kStartNs + time - 10, kStartNs + time + 1);
  }
  resolver_.SetSliceEnd(kStartNs);
  Process();
  ASSERT_EQ(peers_.slices.size(), 1u);
  ASSERT_EQ(peers_.slices[0]->rows.size(), 2u);
  for (const Slice::Row& row : peers_.slices[0]->rows) EXPECT_EQ(row.amount.count, 1u);
  ASSERT_EQ(slice().rows.size(), 2u);
  for (const Slice::Row& row : slice().rows) EXPECT_EQ(row.amount.count, 2u);
}

TEST_F(ResolverWaitsTest, OfAnUnknownCgroupWaitForIt) {
  Wait(kStartNs - 5 * kMs, kStartNs, 77);
  Process();
  EXPECT_EQ(resolver_.pending(), 1u);
  testing::AddCgroup(round_, kStartNs, FT_CGROUP_MKDIR, 77, kAppPath);
  Process();
  clock_.Advance(kNsPerSecond);
  resolver_.Tick();
  ASSERT_THAT(RowContainers(), ElementsAre(app_label_));
  EXPECT_EQ(TypeOf(0), FT_TYPE_OFFCPU);
  EXPECT_EQ(Row(0).amount.value, uint64_t{5 * kMs});
  EXPECT_EQ(WaitStateName(slice().labels.at(Row(0).label).state), "sleeping");
}

TEST_F(ResolverWaitsTest, ThatGoOnAreToldWithTheStackOfTheirBegin) {
  Process();
  const int64_t begin_ns = kStartNs - 100 * kMs;
  const std::vector<WaitingThread> waiting = {Waiting(begin_ns)};
  uint64_t told_ns = 0;
  for (int slice_number = 1; slice_number <= 5; ++slice_number) {
    resolver_.TakeWaitsThatGoOn(waiting, kStartNs + slice_number * kNsPerSecond);
    ASSERT_EQ(slice().rows.size(), 1u);
    EXPECT_EQ(StopOfRow(0), FT_STOP_ROOT);
    EXPECT_EQ(FramesOfRow(0).size(), 2u) << "its body is of an epoch long ago";
    told_ns += Row(0).amount.value;
    resolver_.builder().Take(nullptr);
    // Bodies of another epoch.
    AddBody(round_, {.hash = 100u + static_cast<uint64_t>(slice_number),
                     .tgid = 7,
                     .user = {0x10020},
                     .epoch = 1u + static_cast<uint32_t>(slice_number)});
    Process();
  }
  EXPECT_EQ(told_ns, uint64_t{5 * kNsPerSecond + 100 * kMs});
  Wait(begin_ns, kStartNs + 6 * kNsPerSecond);
  Process();
  EXPECT_EQ(Row(0).amount.value, uint64_t{kNsPerSecond}) << "the rest";
  EXPECT_EQ(Row(0).amount.count, 0u);
}

}  // namespace
}  // namespace firetower::daemon
