// SPDX-License-Identifier: Apache-2.0
// Filters of policies: the samples that count, and the verdicts for the kernel side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/pipeline/resolver_fixture.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::AddBody;
using ::firetower::testing::AddCgroup;
using ::firetower::testing::AddTask;
using ::firetower::testing::SampleOf;
using ::firetower::testing::WriteText;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

k8s::FilterSpec Comm(const std::string& comm) {
  k8s::ProcessFilter process;
  process.comm = comm;
  k8s::FilterSpec spec;
  spec.processes = {process};
  return spec;
}

Decision Filtered(const k8s::FilterSpec& spec) {
  Decision decision = Sampled();
  decision.filter = TaskFilter::Of({std::make_shared<PolicyFilter>(spec)});
  return decision;
}

class ResolverFilterTest : public ResolverTest {
 protected:
  static constexpr uint64_t kUnknown = 99;

  ResolverFilterTest() {
    for (uint32_t pid : {7u, 8u}) {
      Start(pid);
      AddTask(round_, kStartNs - 18, SidebandKind::kExec, pid, 0, pid == 7 ? "java" : "bash");
      AddBody(round_, {.hash = pid, .tgid = pid, .user = {0x10010}});
    }
  }
  void SampleOn(uint32_t cpu, uint64_t cgroup_id, uint32_t pid, uint32_t tid) {
    ft_sample sample = SampleOf(kStartNs, pid, cgroup_id, pid);
    sample.tid = tid;
    sample.cpu = static_cast<uint16_t>(cpu);
    round_.samples.push_back(sample);
  }
  uint64_t Samples() {
    uint64_t samples = 0;
    for (const Slice::Row& row : slice().rows) samples += row.amount.count;
    return samples;
  }
  uint32_t Verdict(uint32_t tid) {
    auto found = peers_.tasks.find(tid);
    if (found == peers_.tasks.end()) return FT_VERDICT_PENDING;
    return (found->second.left_out >> FT_TYPE_CPU & 1) != 0 ? FT_VERDICT_NO : FT_VERDICT_YES;
  }
};

TEST_F(ResolverFilterTest, CountsMatchingProcessesAndTellsTheKernelSide) {
  Select({{app_label_, Filtered(Comm("java"))}});
  SampleOn(0, kApp, 7, 7);
  SampleOn(0, kApp, 8, 8);
  SampleOn(0, kApp, 8, 8);
  Process();
  EXPECT_EQ(Samples(), 1u);
  EXPECT_EQ(resolver_.not_selected(), 2u);
  EXPECT_EQ(Verdict(7), FT_VERDICT_YES);
  EXPECT_EQ(Verdict(8), FT_VERDICT_NO);
  EXPECT_EQ(peers_.tasks[8].version, peers_.tasks_version);
  EXPECT_EQ(peers_.tasks[8].identity, ft_identity(0, 0)) << "as the bodies above have it";
}

TEST_F(ResolverFilterTest, SortsOutCpusThatTheKernelSideLetThrough) {
  k8s::FilterSpec spec = Comm("java");
  spec.cpus = "1";
  Select({{app_label_, Filtered(spec)}});
  SampleOn(0, kApp, 7, 7);
  SampleOn(1, kApp, 7, 7);
  Process();
  EXPECT_EQ(Samples(), 1u);
  EXPECT_EQ(Verdict(7), FT_VERDICT_YES) << "it may run on CPU 1 next";
}

TEST_F(ResolverFilterTest, ANewNameIsDecidedAnew) {
  Select({{app_label_, Filtered(Comm("java"))}});
  SampleOn(0, kApp, 8, 8);
  Process();
  ASSERT_EQ(Verdict(8), FT_VERDICT_NO);
  AddTask(round_, kStartNs + 1, SidebandKind::kComm, 8, 0, "java");
  Process();
  EXPECT_EQ(Verdict(8), FT_VERDICT_PENDING);
  SampleOn(0, kApp, 8, 8);
  Process();
  EXPECT_EQ(Samples(), 1u);
  EXPECT_EQ(Verdict(8), FT_VERDICT_YES);
}

TEST_F(ResolverFilterTest, AThreadHasItsOwnNameAndVerdict) {
  k8s::FilterSpec spec;
  spec.threads = {"GC"};
  proc_.SetThread(7, 71, "GC");
  proc_.SetThread(7, 72, "worker");
  Select({{app_label_, Filtered(spec)}});
  AddTask(round_, kStartNs - 1, SidebandKind::kComm, 7, 0, "java");
  for (uint32_t tid : {71u, 72u}) {
    SidebandEvent event;
    event.time_ns = kStartNs - 1;
    event.kind = SidebandKind::kComm;
    event.pid = 7;
    event.tid = tid;
    event.text_begin = static_cast<uint32_t>(round_.text.size());
    round_.text += tid == 71 ? "GC" : "worker";
    event.text_size = static_cast<uint32_t>(round_.text.size()) - event.text_begin;
    round_.sideband.push_back(event);
    SampleOn(0, kApp, 7, tid);
  }
  Process();
  EXPECT_EQ(Samples(), 1u);
  EXPECT_EQ(Verdict(71), FT_VERDICT_YES);
  EXPECT_EQ(Verdict(72), FT_VERDICT_NO);
  AddTask(round_, kStartNs + 1, SidebandKind::kExit, 7);
  round_.sideband.back().tid = 71;
  Process();
  EXPECT_EQ(Verdict(71), FT_VERDICT_PENDING) << "its id may be another's soon";
}

TEST_F(ResolverFilterTest, ReadsTheCommandLineWhileTheProcessIsThere) {
  k8s::ProcessFilter process;
  process.command_line_regex = "--port 80$";
  k8s::FilterSpec spec;
  spec.processes = {process};
  WriteText(proc_.Of(7) + "/cmdline", std::string("serve\0--port\0"
                                                  "80\0",
                                                  16));
  Select({{app_label_, Filtered(spec)}});
  SampleOn(0, kApp, 7, 7);
  Process();
  proc_.End(7);
  SampleOn(0, kApp, 7, 7);
  SampleOn(0, kApp, 7, 73);  // Another thread of the same program.
  Process();
  EXPECT_EQ(Samples(), 3u);
}

TEST_F(ResolverFilterTest, AnotherSelectionDecidesAnew) {
  Select({{app_label_, Filtered(Comm("java"))}});
  SampleOn(0, kApp, 8, 8);
  Process();
  const uint32_t version = peers_.tasks_version;
  Select({{app_label_, Filtered(Comm("bash"))}});
  EXPECT_NE(peers_.tasks_version, version);
  SampleOn(0, kApp, 8, 8);
  Process();
  EXPECT_EQ(Samples(), 1u);
  EXPECT_EQ(Verdict(8), FT_VERDICT_YES);
}

TEST_F(ResolverFilterTest, LostRecordsMakeVerdictsUncertain) {
  Select({{app_label_, Filtered(Comm("java"))}});
  SampleOn(0, kApp, 8, 8);
  Process();
  const uint32_t version = peers_.tasks_version;
  round_.lost_sideband = 1;
  Process();
  resolver_.Tick();
  EXPECT_NE(peers_.tasks_version, version) << "it may be called java by now";
  const uint32_t next = peers_.tasks_version;
  resolver_.Tick();
  EXPECT_EQ(peers_.tasks_version, next);
}

TEST_F(ResolverFilterTest, AThreadThatLostItsPlaceIsToldAgain) {
  Select({{app_label_, Filtered(Comm("java"))}});
  SampleOn(0, kApp, 8, 8);
  Process();
  peers_.tasks.clear();  // Another thread's verdict stands there now.
  SampleOn(0, kApp, 8, 8);
  Process();
  EXPECT_EQ(Verdict(8), FT_VERDICT_NO);
}

TEST_F(ResolverFilterTest, HoldsWhatItCannotDecideUntilTheContainerIsKnown) {
  Select({{app_label_, Filtered(Comm("java"))}, {sidecar_label_, Sampled()}});
  SampleOn(0, kUnknown, 7, 7);
  SampleOn(0, kUnknown, 8, 8);
  Process();
  EXPECT_EQ(Samples(), 0u);
  EXPECT_EQ(resolver_.pending(), 2u);
  AddTask(round_, kStartNs + 1, SidebandKind::kComm, 7, 0, "other");  // Too late to matter.
  AddCgroup(round_, kStartNs + 2, FT_CGROUP_MKDIR, kUnknown, kAppPath + "/nested");
  Process();
  resolver_.Tick();
  EXPECT_EQ(Samples(), 1u);
  EXPECT_THAT(RowContainers(), ElementsAre(app_label_));
}

TEST_F(ResolverFilterTest, AfterATimeWithoutRecordsProcessesAndVerdictsAreNew) {
  Select({{app_label_, Filtered(Comm("java"))}});
  SampleOn(0, kApp, 8, 8);
  Process();
  const uint32_t version = peers_.tasks_version;
  proc_.SetProcess(8, "java", 1, 1, "10000-20000 r-xp 00003000 fe:00 42 /bin/app\n");
  round_.reopened = true;
  SampleOn(0, kApp, 8, 8);
  Process();
  EXPECT_NE(peers_.tasks_version, version);
  EXPECT_EQ(Samples(), 1u);
}

}  // namespace
}  // namespace firetower::daemon
