// SPDX-License-Identifier: Apache-2.0
// Tests of the table's reads from /proc, and of their times.
#include <gtest/gtest.h>

#include "bpf/abi/unwind.h"
#include "daemon/process/process_table.h"
#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;

std::string MapsOf(const std::string& path) {
  return "10000-20000 r-xp 00002000 fe:01 42                  " + path + "\n";
}

class ProcessTableProcTest : public ::testing::Test {
 protected:
  void Map(uint32_t pid, std::string_view path, std::span<const uint8_t> build_id) {
    SidebandEvent event;
    event.kind = SidebandKind::kMmap;
    event.pid = event.tid = pid;
    event.start = 0x10000;
    event.size_bytes = 0x10000;
    event.file_offset = 0x2000;
    event.build_id_size = static_cast<uint8_t>(build_id.size());
    std::copy(build_id.begin(), build_id.end(), event.build_id.begin());
    table_.Apply(event, path);
  }
  const Module* ModuleAt(uint32_t pid, uint64_t address) {
    const ProcessMapping* mapping = ProcessTable::FindMapping(table_.Get(pid), address);
    return mapping == nullptr ? nullptr : modules_.Get(mapping->module).get();
  }

  FakeProc fake_;
  FakeClock clock_{kNsPerSecond, 0};
  ModuleRegistry modules_;
  ProcessTable table_{modules_, ProcFs(fake_.root()), clock_};
  const std::vector<uint8_t> id_ = {1, 2, 3, 4};
};

TEST_F(ProcessTableProcTest, ScansWhatIsAlive) {
  fake_.SetProcess(10, "app", 1, 4, MapsOf("/bin/app"));
  fake_.SetProcess(2, "kthreadd", 0, 1, "");
  fake_.SetThread(10, 12, "worker");
  table_.Scan();
  EXPECT_EQ(table_.size(), 2u);
  Process& app = table_.Get(10);
  EXPECT_EQ(ToText(app.comm), "app");
  EXPECT_EQ(app.parent, 1u);
  EXPECT_EQ(app.threads, 4);
  ASSERT_NE(ModuleAt(10, 0x18000), nullptr);
  EXPECT_EQ(ModuleAt(10, 0x18000)->path, "/bin/app");
  EXPECT_EQ(ToText(table_.ThreadComm(app, 12)), "worker");
  EXPECT_EQ(ToText(table_.ThreadComm(app, 13)), "app") << "gone by now";
}

TEST_F(ProcessTableProcTest, ReadsAProcessNobodyToldOf) {
  fake_.SetProcess(10, "app", 1, 1, MapsOf("/bin/app"));
  EXPECT_EQ(ToText(table_.Get(10).comm), "app");
  ASSERT_NE(ModuleAt(10, 0x10000), nullptr);
  EXPECT_EQ(table_.Get(11).mappings->size(), 0u);
}

TEST_F(ProcessTableProcTest, TakesTheKernelsTrampolineOfProbedReturnsForNoCode) {
  fake_.SetProcess(
      10, "app", 1, 1,
      MapsOf("/bin/app") + "7fffffffe000-7ffffffff000 --xp 00000000 00:00 0   [uprobes]\n");
  EXPECT_NE(ModuleAt(10, 0x10000), nullptr);
  EXPECT_EQ(ModuleAt(10, 0x7fffffffe000), nullptr);
}

TEST_F(ProcessTableProcTest, RefreshesAProcessOnceASecond) {
  fake_.SetProcess(10, "app", 1, 1, MapsOf("/bin/app"));
  Process& app = table_.Get(10);
  fake_.SetMaps(10, MapsOf("/bin/app") + "30000-40000 r-xp 00000000 fe:01 43 /lib/new\n");
  EXPECT_TRUE(table_.Refresh(app));
  EXPECT_NE(ModuleAt(10, 0x30000), nullptr);
  EXPECT_FALSE(table_.Refresh(app));
  clock_.Advance(kNsPerSecond - 1);
  EXPECT_FALSE(table_.Refresh(app));
  clock_.Advance(1);
  EXPECT_TRUE(table_.Refresh(app));
  EXPECT_EQ(table_.refreshes(), 2u);
}

TEST_F(ProcessTableProcTest, ReadsAtMostFiftyProcessesASecond) {
  for (uint32_t pid = 1; pid <= 120; ++pid) {
    fake_.SetProcess(pid, "app", 0, 1, MapsOf("/bin/app"));
  }
  auto read = [&](uint32_t first) {
    int known = 0;
    for (uint32_t pid = first; pid < first + 60; ++pid) {
      known += table_.Get(pid).mappings->empty() ? 0 : 1;
    }
    return known;
  };
  EXPECT_EQ(read(1), 50);
  EXPECT_FALSE(table_.Refresh(table_.Get(1)));
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(read(61), 50);
  clock_.Advance(kNsPerSecond);
  EXPECT_TRUE(table_.Refresh(table_.Get(1)));
}

TEST_F(ProcessTableProcTest, DoesNotReadTheDead) {
  fake_.SetProcess(10, "app", 1, 1, MapsOf("/bin/app"));
  Process& app = table_.Get(10);
  SidebandEvent exit;
  exit.kind = SidebandKind::kExit;
  exit.pid = exit.tid = 10;
  table_.Apply(exit, "");
  EXPECT_FALSE(table_.Refresh(app)) << "the pid may be another's by now";
}

TEST_F(ProcessTableProcTest, KeepsWhatItKnowsWhenTheProcessIsGone) {
  fake_.SetProcess(10, "app", 1, 1, MapsOf("/bin/app"));
  Process& app = table_.Get(10);
  fake_.End(10);
  EXPECT_TRUE(table_.Refresh(app));
  EXPECT_NE(ModuleAt(10, 0x10000), nullptr);
}

TEST_F(ProcessTableProcTest, KeepsTheBuildIdOfAMappingReadAgain) {
  fake_.SetProcess(10, "app", 1, 1, MapsOf("/bin/app"));
  Map(10, "/bin/app", id_);
  const Module* told = ModuleAt(10, 0x10000);
  ASSERT_EQ(told->build_id, "01020304");
  EXPECT_TRUE(table_.Refresh(table_.Get(10)));
  EXPECT_EQ(ModuleAt(10, 0x10000), told);
}

TEST_F(ProcessTableProcTest, KeepsTheBuildIdUnderEachPathOfOneFile) {
  // Two containers with the same library in different places: one module, by its build id.
  Map(10, "/lib/libc.so.6", id_);
  Map(20, "/usr/lib/libc.so.6", id_);
  const Module* told = ModuleAt(20, 0x10000);
  ASSERT_EQ(ModuleAt(10, 0x10000), told);
  fake_.SetProcess(20, "app", 1, 1, MapsOf("/usr/lib/libc.so.6"));
  EXPECT_TRUE(table_.Refresh(table_.Get(20)));
  EXPECT_EQ(ModuleAt(20, 0x10000), told);
}

TEST_F(ProcessTableProcTest, LooksOnceWhichFileOfABuildIdAProcessMaps) {
  const auto map_file = [&](uint32_t pid, const std::string& text) {
    testing::WriteText(fake_.Of(pid) + "/map_files/10000-20000", text);
  };
  for (const uint32_t pid : {10u, 20u, 30u}) Map(pid, "/app", id_);
  map_file(10, "one");
  map_file(20, "another one");
  const auto names_of = [&](uint32_t pid, bool alive = true) {
    const Process& process = table_.Get(pid);
    const ProcessMapping* mapping = ProcessTable::FindMapping(process, 0x10000);
    return table_.NamesOf(*mapping, alive ? &process : nullptr);
  };
  const uint32_t first = names_of(10);
  const uint32_t second = names_of(20);
  EXPECT_NE(first, second);
  EXPECT_EQ(ModuleAt(10, 0x10000), ModuleAt(20, 0x10000)) << "one unwind table";
  EXPECT_EQ(modules_.Get(second)->build_id, "01020304");
  fake_.End(10);
  EXPECT_EQ(names_of(10), first) << "known from then on";
  const uint32_t third = names_of(30, false);
  EXPECT_NE(third, first) << "one of two at this path: nobody knows which";
  EXPECT_NE(third, second);
}

// The kernel gives a part of a mapping another protection, and tells only of that part.
TEST_F(ProcessTableProcTest, FindsTheFileOfAMappingThatWasCut) {
  Map(10, "/app", id_);
  Map(20, "/app", id_);
  testing::WriteText(fake_.Of(10) + "/map_files/10000-20000", "one");
  // The table still has the executable part as it was recorded.
  testing::WriteText(fake_.Of(20) + "/map_files/18000-20000", "another one");
  fake_.SetProcess(20, "app", 1, 1, "18000-20000 r-xp 0000a000 fe:01 43 /app\n");
  const auto names_of = [&](uint32_t pid) {
    const Process& process = *table_.Find(pid);
    return table_.NamesOf(*ProcessTable::FindMapping(process, 0x10000), &process);
  };
  EXPECT_NE(names_of(10), names_of(20));
}

TEST_F(ProcessTableProcTest, KeepsTheBuildIdOfADeletedFile) {
  Map(10, "/tmp/app (deleted)", id_);
  fake_.SetProcess(10, "app", 1, 1, MapsOf("/tmp/app (deleted)"));
  const Module* told = ModuleAt(10, 0x10000);
  EXPECT_EQ(told->path, "/tmp/app");
  EXPECT_TRUE(table_.Refresh(table_.Get(10)));
  EXPECT_EQ(ModuleAt(10, 0x10000), told);
}

TEST_F(ProcessTableProcTest, TakesAnotherFileInTheSamePlaceForAnother) {
  Map(10, "/bin/app", id_);
  fake_.SetProcess(10, "app", 1, 1, MapsOf("/bin/other"));
  EXPECT_TRUE(table_.Refresh(table_.Get(10)));
  EXPECT_EQ(ModuleAt(10, 0x10000)->path, "/bin/other");
  EXPECT_EQ(ModuleAt(10, 0x10000)->build_id, "");
}

TEST_F(ProcessTableProcTest, ReadsAProcessAgainAfterALossWhenItIsNeeded) {
  fake_.SetProcess(10, "old", 1, 1, MapsOf("/bin/old"));
  fake_.SetProcess(11, "other", 1, 1, MapsOf("/bin/old"));
  table_.Scan();
  fake_.SetProcess(10, "new", 1, 2, MapsOf("/bin/new"));
  table_.InvalidateAll();
  EXPECT_EQ(ToText(table_.Find(10)->comm), "old") << "nobody needs it yet";
  fake_.SetProcess(11, "later", 1, 1, MapsOf("/bin/later"));
  EXPECT_EQ(ToText(table_.Get(10).comm), "new");
  EXPECT_EQ(table_.Get(10).threads, 2);
  EXPECT_EQ(ModuleAt(10, 0x10000)->path, "/bin/new");
  EXPECT_EQ(ModuleAt(11, 0x10000)->path, "/bin/later");
}

TEST_F(ProcessTableProcTest, ReadsAfterALossAtTheRateOfOthers) {
  for (uint32_t pid = 1; pid <= 120; ++pid) {
    fake_.SetProcess(pid, "old", 0, 1, MapsOf("/bin/app"));
  }
  table_.Scan();
  for (uint32_t pid = 1; pid <= 120; ++pid) {
    fake_.SetProcess(pid, "new", 0, 1, MapsOf("/bin/app"));
  }
  auto read_again = [&] {
    int again = 0;
    for (uint32_t pid = 1; pid <= 120; ++pid) again += ToText(table_.Get(pid).comm) == "new";
    return again;
  };
  table_.InvalidateAll();
  EXPECT_EQ(read_again(), 50);
  EXPECT_EQ(read_again(), 50);
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(read_again(), 100);
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(read_again(), 120);
}

TEST_F(ProcessTableProcTest, ReadsAProcessAtMostOnceASecondHoweverMuchIsLost) {
  fake_.SetProcess(10, "old", 1, 1, MapsOf("/bin/app"));
  table_.Scan();
  table_.InvalidateAll();
  table_.Get(10);
  fake_.SetProcess(10, "new", 1, 1, MapsOf("/bin/app"));
  table_.InvalidateAll();
  EXPECT_EQ(ToText(table_.Get(10).comm), "old");
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(ToText(table_.Get(10).comm), "new");
}

TEST_F(ProcessTableProcTest, KeepsTheEndedThroughALoss) {
  fake_.SetProcess(10, "told", 1, 1, MapsOf("/bin/told"));
  fake_.SetProcess(11, "lost", 1, 1, MapsOf("/bin/lost"));
  table_.Scan();
  SidebandEvent exit;
  exit.kind = SidebandKind::kExit;
  exit.pid = exit.tid = 10;
  table_.Apply(exit, "");
  fake_.SetProcess(10, "next", 1, 1, MapsOf("/bin/next"));  // The pid is another's.
  fake_.End(11);
  table_.InvalidateAll();
  table_.EndRound();
  EXPECT_EQ(ModuleAt(10, 0x10000)->path, "/bin/told") << "its last samples may still come";
  EXPECT_EQ(ModuleAt(11, 0x10000)->path, "/bin/lost");
}

TEST_F(ProcessTableProcTest, ReadsTheChildOfAProcessItMistrusts) {
  fake_.SetProcess(10, "parent", 1, 1, MapsOf("/bin/old"));
  table_.Scan();
  table_.InvalidateAll();
  SidebandEvent fork;
  fork.kind = SidebandKind::kFork;
  fork.pid = fork.tid = 11;
  fork.parent_pid = fork.parent_tid = 10;
  table_.Apply(fork, "");
  fake_.SetProcess(11, "child", 10, 1, MapsOf("/bin/new"));
  EXPECT_EQ(ModuleAt(11, 0x10000)->path, "/bin/new");
}

TEST_F(ProcessTableProcTest, ReadsAPidThatIsAnothersWithoutARecord) {
  fake_.SetProcess(10, "first", 1, 1, MapsOf("/bin/first"));
  table_.Meet(table_.Get(10), 1000);
  table_.ClearChanged();
  fake_.SetProcess(10, "second", 2, 1, "50000-60000 r-xp 00000000 fe:01 43 /bin/second\n");
  table_.Meet(table_.Get(10), 2000);
  EXPECT_EQ(ToText(table_.Get(10).comm), "second");
  EXPECT_EQ(table_.Get(10).parent, 2u);
  EXPECT_EQ(ModuleAt(10, 0x10000), nullptr);
  EXPECT_EQ(ModuleAt(10, 0x50000)->path, "/bin/second");
  EXPECT_FALSE(table_.changed().empty()) << "the kernel side has the last one's mappings";
}

TEST_F(ProcessTableProcTest, GivesNoMappingsOfTheLastOwnerWhenThereIsNoTimeToRead) {
  fake_.SetProcess(10, "first", 1, 1, MapsOf("/bin/first"));
  table_.Meet(table_.Get(10), 1000);
  for (uint32_t pid = 100; pid < 160; ++pid) table_.Get(pid);  // This second's reads are spent.
  fake_.SetProcess(10, "second", 1, 1, MapsOf("/bin/second"));
  table_.Meet(table_.Get(10), 2000);
  EXPECT_EQ(ModuleAt(10, 0x10000), nullptr);
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(ModuleAt(10, 0x10000)->path, "/bin/second");
}

TEST_F(ProcessTableProcTest, DoesNotReadAProcessWhoseExecWasTold) {
  fake_.SetProcess(10, "app", 1, 1, MapsOf("/bin/app"));
  table_.Meet(table_.Get(10), 1000);
  SidebandEvent exec;
  exec.kind = SidebandKind::kExec;
  exec.pid = exec.tid = 10;
  table_.Apply(exec, "next");
  Map(10, "/bin/next", id_);
  table_.Meet(table_.Get(10), ft_identity(0, 1) - ft_identity(0, 0) + 1000);
  EXPECT_EQ(ModuleAt(10, 0x10000)->build_id, "01020304") << "as told";
}

TEST_F(ProcessTableProcTest, SweepsProcessesWhoseEndWasMissed) {
  fake_.SetProcess(10, "app", 1, 3, MapsOf("/bin/app"));
  fake_.SetProcess(11, "app", 1, 1, MapsOf("/bin/app"));
  table_.Scan();
  fake_.End(10);
  table_.Sweep();
  EXPECT_NE(ModuleAt(10, 0x10000), nullptr) << "its last samples may still come";
  for (uint64_t round = 0; round <= ProcessTable::kKeepDeadRounds + 1; ++round) table_.EndRound();
  EXPECT_EQ(table_.size(), 1u);
  EXPECT_NE(ModuleAt(11, 0x10000), nullptr);
}

}  // namespace
}  // namespace firetower::daemon
