// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/daemon/pipeline/resolver_fixture.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::AddBody;
using ::firetower::testing::AddCgroup;
using ::firetower::testing::AddMap;
using ::firetower::testing::AddTask;
using ::firetower::testing::SampleOf;
using ::testing::ElementsAre;

TEST_F(ResolverTest, AttributesToContainerUnitAndHost) {
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10000}});
  Sample(1, kApp, 7);
  Sample(1, kCron, 7);
  Sample(1, kRoot, 7);
  Sample(1, kApp, 7, 5);
  Process();
  EXPECT_THAT(RowContainers(), ElementsAre(app_label_, "cron.service", "host"));
  EXPECT_EQ(slice().rows[0].amount.count, 2u);
  EXPECT_EQ(slice().rows[0].amount.value, 15u);
  EXPECT_EQ(slice().attribution.container, 2u);
  EXPECT_EQ(slice().attribution.host, 2u);
  EXPECT_EQ(slice().attribution.unknown, 0u);
  EXPECT_EQ(slice().containers[0].container->labels.pod, kPodUid);
}

TEST_F(ResolverTest, TakesOneFromReturnAddressesOnly) {
  Start(7);
  AddBody(round_, {.hash = 1,
                   .tgid = 7,
                   .kernel = {0xffffffff81000100, 0xffffffff81000200},
                   .user = {0x10000, 0x10500, 0x20000}});
  Sample(1, kApp, 7);
  Process();
  uint32_t app = slice().frames.at(2).module;
  EXPECT_EQ(PathOf(slice().frames[2]), "/bin/app");
  // 0x20000 - 1 lies in the last byte of the code, where its call is: the return address does not.
  EXPECT_THAT(FramesOfRow(0),
              ElementsAre(Frame{ModuleRegistry::kKernel, 0, 0xffffffff81000100},
                          Frame{ModuleRegistry::kKernel, 0, 0xffffffff810001ff},
                          Frame{app, 0, 0x3000}, Frame{app, 0, 0x34ff}, Frame{app, 0, 0x12fff}));
  EXPECT_EQ(StopOfRow(0), FT_STOP_ROOT);
}

TEST_F(ResolverTest, TellsKernelCodeOfOthersFromItsOwn) {
  const auto own = static_cast<uint32_t>(::getpid());
  uint64_t hash = 0;
  for (const uint32_t pid : {own, own + 1}) {
    Start(pid);
    AddBody(round_,
            {.hash = ++hash, .tgid = pid, .kernel = {0xffffffff81000100}, .user = {0x10000}});
    Sample(hash, kApp, pid);
    Process();
    EXPECT_EQ(slice().kernel_code, pid != own);
  }
}

TEST_F(ResolverTest, CutsAStackAtACallerOutsideOfAllCode) {
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10000, 0x10500, 0x90000, 0x10700}});
  Sample(1, kApp, 7);
  Process();
  EXPECT_EQ(FramesOfRow(0).size(), 2u);
  EXPECT_EQ(StopOfRow(0), kStopNoMapping);
  EXPECT_EQ(slice().stops[kStopNoMapping], 1u);
}

TEST_F(ResolverTest, KeepsALeafOutsideOfAllCodeAsUnknown) {
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x90000, 0x10500}, .stop = FT_STOP_PAGE});
  Sample(1, kApp, 7);
  Process();
  EXPECT_EQ(FramesOfRow(0)[0], (Frame{ModuleRegistry::kUnknown, 0, 0x90000}));
  EXPECT_EQ(PathOf(FramesOfRow(0)[1]), "/bin/app");
  EXPECT_EQ(StopOfRow(0), FT_STOP_PAGE);
}

TEST_F(ResolverTest, ReadsMappingsAgainForALeafOutsideOfAllCode) {
  Start(7);
  proc_.SetProcess(7, "app", 1, 1,
                   "10000-20000 r-xp 00003000 00:00 42 /bin/app\n"
                   "90000-91000 r-xp 00000000 fe:01 43 /lib/moved\n");
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x90010}});
  Sample(1, kApp, 7);
  Process();
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/lib/moved");
  EXPECT_EQ(FramesOfRow(0)[0].offset, 0x10u);
}

TEST_F(ResolverTest, NotesWhereAStackShowedAFileLast) {
  Start(7);
  Start(8);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10000}});
  AddBody(round_, {.hash = 2, .tgid = 8, .user = {0x10000}});
  Sample(1, kApp, 7);
  Sample(2, kApp, 8);
  Process();
  const Module& app = *modules_.Get(slice().frames.at(0).module);
  const uint64_t seen_in = app.seen_in;
  EXPECT_EQ(seen_in >> 32, 8u) << "pid";
  EXPECT_EQ(seen_in & 0xffffffff, 1u) << "parent";
  EXPECT_EQ(app.seen_start, 0x10000u);
  EXPECT_EQ(app.seen_end, 0x20000u);
}

TEST_F(ResolverTest, SaysWhenAStackIsLost) {
  Start(7);
  Sample(1, kApp, 7);
  Sample(2, kApp, 7);
  Process();
  ASSERT_EQ(slice().rows.size(), 1u);
  EXPECT_EQ(slice().rows[0].amount.count, 2u);
  EXPECT_TRUE(FramesOfRow(0).empty());
  EXPECT_EQ(StopOfRow(0), kStopStackLost);
  EXPECT_EQ(slice().stops[kStopStackLost], 2u);
  EXPECT_EQ(slice().attribution.container, 2u) << "its time is known all the same";
}

TEST_F(ResolverTest, FindsAStackThatCameWithALaterSample) {
  Start(7);
  ft_sample first = SampleOf(kStartNs, 1, kApp, 7);
  first.flags = FT_SAMPLE_NO_STACK;  // Its body found no room; the next sample's did.
  round_.samples.push_back(first);
  round_.samples.push_back(SampleOf(kStartNs + 1, 1, kApp, 7));
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10000}});
  Process();
  EXPECT_EQ(slice().stops[kStopStackLost], 0u);
  ASSERT_EQ(slice().rows.size(), 1u);
  EXPECT_EQ(slice().rows[0].amount.count, 2u);
}

TEST_F(ResolverTest, MarksAnonymousCodeWithItsProcess) {
  for (uint32_t pid : {7u, 8u}) {
    Start(pid);
    AddMap(round_, kStartNs - 10, {pid, 0x50000, 0x1000, 0, "//anon", 0});
    AddBody(round_, {.hash = pid, .tgid = pid, .user = {0x50010}});
    Sample(pid, kApp, pid);
  }
  Process();
  ASSERT_EQ(slice().rows.size(), 2u);
  EXPECT_THAT(FramesOfRow(0), ElementsAre(Frame{ModuleRegistry::kJit, 7, 0x50010}));
  EXPECT_THAT(FramesOfRow(1), ElementsAre(Frame{ModuleRegistry::kJit, 8, 0x50010}));
}

TEST_F(ResolverTest, FindsTheVdsoByItsOffset) {
  Start(7);
  AddMap(round_, kStartNs - 10, {7, 0x7ff000, 0x2000, 0, "[vdso]", 0});
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x7ff6d0}});
  Sample(1, kApp, 7);
  Process();
  EXPECT_THAT(FramesOfRow(0), ElementsAre(Frame{ModuleRegistry::kVdso, 0, 0x6d0}));
}

TEST_F(ResolverTest, AsksForSymbolsOfFilesOnce) {
  Start(7);
  AddMap(round_, kStartNs - 10, {7, 0x50000, 0x1000, 0, "//anon", 0});
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010, 0x10020, 0x50010}});
  AddBody(round_, {.hash = 2, .tgid = 7, .user = {0x10030}});
  Sample(1, kApp, 7);
  Sample(2, kApp, 7);
  Process();
  EXPECT_THAT(peers_.wanted, ElementsAre(FakePeers::Wanted{"/bin/app", 7, 0x10000}));
}

TEST_F(ResolverTest, ResolvesALateSampleOfAnEndedProcess) {
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10000}});
  AddTask(round_, kStartNs + 1, SidebandKind::kExit, 7);
  Process();
  // Samples reach us up to two rounds after the exit's record.
  for (uint64_t round = 0; round < ProcessTable::kKeepDeadRounds; ++round) {
    Sample(1, kApp, 7);
    Process();
  }
  ASSERT_EQ(slice().rows.size(), 1u);
  EXPECT_EQ(slice().rows[0].amount.count, ProcessTable::kKeepDeadRounds);
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/bin/app");
}

TEST_F(ResolverTest, AppliesExecAndItsMappingsByTime) {
  Start(7);
  AddTask(round_, kStartNs, SidebandKind::kExec, 7, 0, "next");
  AddMap(round_, kStartNs + 1, {7, 0x40000, 0x1000, 0, "/bin/next", 43});
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  AddBody(round_, {.hash = 2, .tgid = 7, .user = {0x40010, 0x10020}});
  round_.samples.push_back(SampleOf(kStartNs - 1, 1, kApp, 7));
  round_.samples.push_back(SampleOf(kStartNs + 2, 2, kApp, 7));
  Process();
  ASSERT_EQ(slice().rows.size(), 2u);
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/bin/app");
  EXPECT_EQ(PathOf(FramesOfRow(1)[0]), "/bin/next");
  EXPECT_EQ(FramesOfRow(1).size(), 1u) << "code from before exec is no code";
  EXPECT_EQ(StopOfRow(1), kStopNoMapping);
  EXPECT_EQ(ToText(slice().labels[slice().rows[1].label].comm), "next");
}

TEST_F(ResolverTest, ResolvesAgainWhenMappingsChanged) {
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  round_.samples.push_back(SampleOf(kStartNs, 1, kApp, 7));
  AddMap(round_, kStartNs + 1, {7, 0x10000, 0x10000, 0, "/lib/over", 43});
  round_.samples.push_back(SampleOf(kStartNs + 2, 1, kApp, 7));
  Process();
  ASSERT_EQ(slice().rows.size(), 2u);
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/bin/app");
  EXPECT_EQ(PathOf(FramesOfRow(1)[0]), "/lib/over");
}

TEST_F(ResolverTest, EndsASliceOnceForTheSamplesOfTheNext) {
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  for (int64_t time : {-2, -1, 0, 1, 2}) {
    round_.samples.push_back(SampleOf(kStartNs + time, 1, kApp, 7));
  }
  resolver_.SetSliceEnd(kStartNs);
  peers_.next_end_ns = kStartNs + 5 * kNsPerSecond;
  Process();
  round_.samples.push_back(SampleOf(kStartNs + 3, 1, kApp, 7));
  Process();
  ASSERT_EQ(peers_.slices.size(), 1u);
  ASSERT_EQ(peers_.slices[0]->rows.size(), 1u);
  EXPECT_EQ(peers_.slices[0]->rows[0].amount.count, 2u);
  ASSERT_EQ(slice().rows.size(), 1u);
  EXPECT_EQ(slice().rows[0].amount.count, 4u);
  // The stack is resolved into the new slice, not named by an index of the old one.
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/bin/app");
}

TEST_F(ResolverTest, FollowsCgroupsByTime) {
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  AddCgroup(round_, kStartNs - 5, FT_CGROUP_MKDIR, 50, kCronPath + "/job");
  AddCgroup(round_, kStartNs + 5, FT_CGROUP_RENAME, 50, kSidecarPath);
  AddCgroup(round_, kStartNs + 7, FT_CGROUP_RMDIR, 50, kSidecarPath);
  for (int64_t time : {-4, 6, 8}) {
    round_.samples.push_back(SampleOf(kStartNs + time, 1, 50, 7));
  }
  Process();
  EXPECT_THAT(RowContainers(), ElementsAre("cron.service", sidecar_label_));
  EXPECT_EQ(slice().rows[1].amount.count, 2u) << "a sample on its way when the cgroup went";
  EXPECT_EQ(resolver_.pending(), 0u);
}

TEST_F(ResolverTest, TellsWhoseTasksAreKilledForMemory) {
  AddCgroup(round_, kStartNs, FT_CGROUP_MKDIR, 50, kAppPath + "/init");
  AddCgroup(round_, kStartNs + 1, FT_CGROUP_OOM_KILL, 50, "");
  AddCgroup(round_, kStartNs + 2, FT_CGROUP_OOM_KILL, 99, "");
  Process();
  EXPECT_THAT(peers_.oom_kills, ElementsAre(std::pair(kAppPath, kStartNs + 1)));
}

// Windows say when their samples were taken.
TEST_F(ResolverTest, KeepsTheTimesOfWhatIsStored) {
  Decision neither = Sampled();
  neither.to_store = false;
  Select({{app_label_, Sampled()}, {"cron.service", neither}});
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  Sample(1, kCron, 7);
  Sample(1, kApp, 7);
  Process();
  ASSERT_EQ(slice().timed.size(), 1u);
  EXPECT_EQ(slice().rows[slice().timed[0].row].container,
            slice().containers[0].container->labels.container == app_label_ ? 0u : 1u);
}

// Samples that record_ns asks for go to the recorder one by one.
TEST_F(ResolverTest, KeepsTheTimesOfWhatIsRecorded) {
  Decision recorded = Sampled();
  recorded.record_ns = 1;
  recorded.to_store = false;
  Decision neither = Sampled();
  neither.to_store = false;
  Select({{app_label_, recorded}, {"cron.service", neither}});
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  Sample(1, kCron, 7);
  Sample(1, kApp, 7);
  Sample(1, kApp, 7);
  Process();
  ASSERT_EQ(slice().timed.size(), 2u);
  const Slice::Timed& timed = slice().timed[1];
  EXPECT_EQ(slice().containers[slice().rows[timed.row].container].container->labels.container,
            app_label_);
  EXPECT_EQ(timed.time_ns, kStartNs);
  EXPECT_EQ(timed.amount.value, 10u);
}

TEST_F(ResolverTest, TellsOfContainersThatAreGone) {
  AddCgroup(round_, kStartNs, FT_CGROUP_MKDIR, 50, kAppPath + "/init");
  AddCgroup(round_, kStartNs + 1, FT_CGROUP_RMDIR, 50, kAppPath + "/init");
  Process();
  EXPECT_TRUE(slice().gone.empty()) << "only a part of it went";
  AddCgroup(round_, kStartNs + 2, FT_CGROUP_RMDIR, kApp, kAppPath);
  Process();
  ASSERT_EQ(slice().gone.size(), 1u);
  EXPECT_EQ(slice().gone[0]->labels.container, app_label_);
}

TEST_F(ResolverTest, NamesThreadAndProcess) {
  AddTask(round_, kStartNs - 30, SidebandKind::kFork, 7, 1);
  AddTask(round_, kStartNs - 29, SidebandKind::kExec, 7, 0, "server");
  SidebandEvent clone;
  clone.time_ns = kStartNs - 28;
  clone.kind = SidebandKind::kFork;
  clone.pid = clone.parent_pid = clone.parent_tid = 7;
  clone.tid = 8;
  round_.sideband.push_back(clone);
  AddTask(round_, kStartNs - 27, SidebandKind::kComm, 7, 0, "pool");
  round_.sideband.back().tid = 8;
  AddBody(round_, {.hash = 1, .tgid = 7});
  ft_sample of_thread = SampleOf(kStartNs, 1, kApp, 7);
  of_thread.tid = 8;
  of_thread.cpu = 3;
  round_.samples.push_back(of_thread);
  Process();
  const TaskLabel& label = slice().labels[slice().rows.at(0).label];
  EXPECT_EQ(ToText(label.comm), "server");
  EXPECT_EQ(ToText(label.thread), "pool");
  EXPECT_EQ(label.cpu, -1) << "not asked for";
}

// Sends a traced sample's trace, or the sample, or both.
ft_trace TraceOf(const ft_sample& sample, uint64_t trace, uint64_t span) {
  ft_trace record{};
  record.time_ns = sample.time_ns;
  record.tid = sample.tid;
  record.tgid = sample.tgid;
  record.kind = FT_KIND_TRACE;
  record.ids = {{trace, trace + 1}, span};
  return record;
}

TEST_F(ResolverTest, TellsTheTraceThatAThreadWorkedOn) {
  AddBody(round_, {.hash = 1, .tgid = 7});
  ft_sample traced = SampleOf(kStartNs, 1, kApp, 7);
  traced.flags = FT_SAMPLE_TRACED;
  // Its trace is in the round before: the ring was read between the two.
  round_.traces.push_back(TraceOf(traced, 5, 9));
  Process();
  ft_sample other = traced, lost = traced, plain = traced;
  other.tid = traced.tid + 1;
  lost.time_ns += 1;
  plain.flags = 0;
  round_.traces.push_back(TraceOf(other, 70, 3));
  round_.samples = {traced, other, plain, lost};
  Process();
  std::vector<std::array<uint64_t, 3>> traces;
  for (const Slice::Row& row : slice().rows) traces.push_back(slice().labels[row.label].trace);
  const std::array<uint64_t, 3> none{};
  EXPECT_THAT(traces, ElementsAre(std::array<uint64_t, 3>{5, 6, 9},
                                  std::array<uint64_t, 3>{70, 71, 3}, none));
  EXPECT_EQ(slice().rows[2].amount.count, 2u) << "one whose trace was lost has none";
}

TEST_F(ResolverTest, ReadsProcessesAgainAfterLostRecords) {
  Start(7);
  Process();
  proc_.SetProcess(7, "app", 1, 1, "10000-20000 r-xp 00000000 fe:01 99 /bin/other\n");
  round_.lost_sideband = 3;
  Process();
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  Sample(1, kApp, 7);
  Process();
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/bin/other");
}

TEST_F(ResolverTest, ReadsAPidThatIsAnothersWithoutARecord) {
  Start(7);
  Process();
  processes_.Meet(processes_.Get(7), ft_identity(1'000'000, 1));  // what a cold sample told
  proc_.SetProcess(7, "other", 1, 1, "10000-20000 r-xp 00000000 fe:01 99 /bin/other\n");
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});  // started at 0, no exec
  Sample(1, kApp, 7);
  Process();
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/bin/other");
}

TEST_F(ResolverTest, MistrustsWhatTheRoundOfALossTold) {
  // The exec was recorded, but not the new program's mappings.
  Start(7);
  AddTask(round_, kStartNs, SidebandKind::kExec, 7, 0, "next");
  round_.lost_sideband = 3;
  Process();
  proc_.SetProcess(7, "next", 1, 1, "10000-20000 r-xp 00000000 fe:01 99 /bin/next\n");
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  Sample(1, kApp, 7);
  Process();
  EXPECT_EQ(PathOf(FramesOfRow(0)[0]), "/bin/next");
}

TEST(AmountOf, OfAllocationsIsAllThatTheSampleStandsFor) {
  ft_sample sample{};
  sample.value = 7;
  EXPECT_EQ(AmountOf(sample).count, 1u);
  EXPECT_EQ(AmountOf(sample).value, 7u);
  sample.type = FT_TYPE_MEMORY;
  sample.value = ft_allocations(FT_ALLOC_EVERY_MOST, 16);
  EXPECT_EQ(AmountOf(sample).count, uint64_t{FT_ALLOC_EVERY_MOST});
  EXPECT_EQ(AmountOf(sample).value, uint64_t{FT_ALLOC_EVERY_MOST} * 16);
  sample.value = ft_allocations(1, FT_ALLOC_BYTES_MOST);
  EXPECT_EQ(AmountOf(sample).count, 1u);
  EXPECT_EQ(AmountOf(sample).value, uint64_t{FT_ALLOC_BYTES_MOST});
}

TEST_F(ResolverTest, SamplesOfAllocationsAreRowsOfTheirOwnType) {
  Start(7);
  AddBody(round_, {.hash = 1, .tgid = 7, .user = {0x10010}});
  Decision memory;
  memory.sampled = true;
  resolver_.SetSelection(std::make_shared<LabelSelection>(
      std::map<std::string, Decision>{}, std::map<std::string, Decision>{{app_label_, memory}}));
  ft_sample sample = testing::SampleOf(kStartNs, 1, kApp, 7, ft_allocations(100, 64));
  sample.type = FT_TYPE_MEMORY;
  round_.samples.push_back(sample);
  round_.samples.push_back(sample);
  Process();
  ASSERT_EQ(slice().rows.size(), 1u);
  EXPECT_EQ(slice().containers.at(0).type, FT_TYPE_MEMORY);
  EXPECT_EQ(slice().rows[0].amount.count, 200u);
  EXPECT_EQ(slice().rows[0].amount.value, 12800u);
}

}  // namespace
}  // namespace firetower::daemon
