// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/process_table.h"

#include <gtest/gtest.h>

#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;

// A table over an empty /proc, fed only by records.
class ProcessTableTest : public ::testing::Test {
 protected:
  void Fork(uint32_t pid, uint32_t parent, uint32_t parent_tid = 0) {
    SidebandEvent event;
    event.kind = SidebandKind::kFork;
    event.pid = event.tid = pid;
    event.parent_pid = parent;
    event.parent_tid = parent_tid != 0 ? parent_tid : parent;
    table_.Apply(event, "");
  }
  void Clone(uint32_t pid, uint32_t tid, uint32_t creator) {
    SidebandEvent event;
    event.kind = SidebandKind::kFork;
    event.pid = event.parent_pid = pid;
    event.tid = tid;
    event.parent_tid = creator;
    table_.Apply(event, "");
  }
  void Task(SidebandKind kind, uint32_t pid, uint32_t tid, std::string_view comm = "") {
    SidebandEvent event;
    event.kind = kind;
    event.pid = pid;
    event.tid = tid;
    table_.Apply(event, comm);
  }
  void Map(uint32_t pid, uint64_t start, uint64_t size_bytes, std::string_view path) {
    SidebandEvent event;
    event.kind = SidebandKind::kMmap;
    event.pid = event.tid = pid;
    event.start = start;
    event.size_bytes = size_bytes;
    event.inode = 9;
    table_.Apply(event, path);
  }
  std::string PathAt(uint32_t pid, uint64_t address) {
    const ProcessMapping* mapping = ProcessTable::FindMapping(table_.Get(pid), address);
    return mapping == nullptr ? "" : modules_.Get(mapping->module)->path;
  }
  std::string CommOf(uint32_t pid, uint32_t tid) {
    return std::string(ToText(table_.ThreadComm(table_.Get(pid), tid)));
  }
  void EndRounds(int count) {
    for (int i = 0; i < count; ++i) table_.EndRound();
  }

  FakeProc fake_;
  FakeClock clock_{kNsPerSecond, 0};
  ModuleRegistry modules_;
  ProcessTable table_{modules_, ProcFs(fake_.root()), clock_};
};

TEST_F(ProcessTableTest, CopiesMappingsToAForkedChild) {
  Fork(10, 1);
  Map(10, 0x1000, 0x1000, "/bin/a");
  Fork(11, 10);
  EXPECT_EQ(table_.Get(11).parent, 10u);
  EXPECT_EQ(PathAt(11, 0x1800), "/bin/a");
  // From then on each goes its own way.
  Map(11, 0x5000, 0x1000, "/lib/child");
  Map(10, 0x6000, 0x1000, "/lib/parent");
  EXPECT_EQ(PathAt(11, 0x5000), "/lib/child");
  EXPECT_EQ(PathAt(10, 0x5000), "");
  EXPECT_EQ(PathAt(10, 0x6000), "/lib/parent");
  EXPECT_EQ(PathAt(11, 0x6000), "");
}

TEST_F(ProcessTableTest, CountsAThreadToItsProcess) {
  Fork(10, 1);
  Clone(10, 11, 10);
  Clone(10, 12, 11);
  EXPECT_EQ(table_.size(), 1u);
  EXPECT_EQ(table_.Get(10).threads, 3);
}

TEST_F(ProcessTableTest, ChangesTheGenerationWithTheMappings) {
  Fork(10, 1);
  uint32_t before = table_.Get(10).generation;
  Map(10, 0x1000, 0x1000, "/bin/a");
  uint32_t mapped = table_.Get(10).generation;
  EXPECT_NE(mapped, before);
  Task(SidebandKind::kComm, 10, 10, "x");
  EXPECT_EQ(table_.Get(10).generation, mapped);
  Task(SidebandKind::kExec, 10, 10, "b");
  EXPECT_NE(table_.Get(10).generation, mapped);
}

TEST_F(ProcessTableTest, StartsAnewWithExec) {
  Fork(10, 1);
  Map(10, 0x1000, 0x1000, "/bin/sh");
  Clone(10, 11, 10);
  Task(SidebandKind::kComm, 10, 11, "helper");
  Fork(20, 10);
  Task(SidebandKind::kExec, 10, 10, "nginx");
  EXPECT_EQ(PathAt(10, 0x1000), "");
  EXPECT_EQ(CommOf(10, 10), "nginx");
  EXPECT_EQ(CommOf(10, 11), "nginx");
  EXPECT_EQ(table_.Get(10).threads, 1);
  EXPECT_EQ(PathAt(20, 0x1000), "/bin/sh") << "a child keeps what it was forked with";
}

TEST_F(ProcessTableTest, InheritsNames) {
  Fork(10, 1);
  Task(SidebandKind::kComm, 10, 10, "main");
  Clone(10, 11, 10);
  Task(SidebandKind::kComm, 10, 11, "pool");
  Clone(10, 12, 11);  // A thread has its creator's name,
  Clone(10, 13, 10);
  EXPECT_EQ(CommOf(10, 12), "pool");
  EXPECT_EQ(CommOf(10, 13), "main");
  Fork(20, 10, 11);  // and so has a process.
  EXPECT_EQ(CommOf(20, 20), "pool");
  Task(SidebandKind::kComm, 10, 10, "renamed");
  EXPECT_EQ(CommOf(10, 12), "pool");
  EXPECT_EQ(CommOf(10, 10), "renamed");
}

TEST_F(ProcessTableTest, LivesUntilItsLastThreadExits) {
  Fork(10, 1);
  Map(10, 0x1000, 0x1000, "/bin/a");
  Clone(10, 11, 10);
  Task(SidebandKind::kExit, 10, 10);  // The leader goes first.
  EndRounds(10);
  EXPECT_EQ(PathAt(10, 0x1000), "/bin/a");
  Task(SidebandKind::kExit, 10, 11);
  EndRounds(4);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(ProcessTableTest, KeepsTheDeadForTwoRounds) {
  Fork(10, 1);
  Map(10, 0x1000, 0x1000, "/bin/a");
  Task(SidebandKind::kExit, 10, 10);
  EndRounds(1 + static_cast<int>(ProcessTable::kKeepDeadRounds));
  EXPECT_EQ(PathAt(10, 0x1000), "/bin/a");
  EndRounds(1);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(ProcessTableTest, GivesAReusedPidToTheNewProcess) {
  Fork(10, 1);
  Map(10, 0x1000, 0x1000, "/bin/old");
  Task(SidebandKind::kExit, 10, 10);
  Fork(30, 1);
  Map(30, 0x1000, 0x1000, "/bin/parent");
  Fork(10, 30);
  EXPECT_EQ(PathAt(10, 0x1000), "/bin/parent");
  EndRounds(5);
  EXPECT_EQ(PathAt(10, 0x1000), "/bin/parent") << "the old one's end is not the new one's";
  Task(SidebandKind::kExit, 10, 10);
  EndRounds(4);
  EXPECT_EQ(table_.size(), 1u);
}

TEST_F(ProcessTableTest, TakesRecordsOfProcessesNobodyToldOf) {
  Task(SidebandKind::kExit, 77, 77);
  EXPECT_EQ(table_.size(), 0u);
  Map(78, 0x1000, 0x1000, "/bin/a");
  EXPECT_EQ(PathAt(78, 0x1000), "/bin/a");
  Task(SidebandKind::kComm, 79, 79, "named");
  EXPECT_EQ(CommOf(79, 79), "named");
  Fork(81, 80);
  EXPECT_EQ(table_.Get(81).mappings->size(), 0u);
}

TEST_F(ProcessTableTest, CutsNamesAsTheKernelDoes) {
  Fork(10, 1);
  Task(SidebandKind::kComm, 10, 10, "sixteen_letters_and_more");
  EXPECT_EQ(CommOf(10, 10), "sixteen_letters");
}

TEST_F(ProcessTableTest, AProcessCannotHaveMoreMappingsThanTheKernelSideTakes) {
  Fork(10, 1);
  for (uint64_t i = 0; i < ProcessTable::kMaxMappings + 3; ++i) {
    Map(10, 0x10000 + i * 0x2000, 0x1000, "/lib/x");
  }
  EXPECT_EQ(table_.Get(10).mappings->size(), ProcessTable::kMaxMappings);
  EXPECT_EQ(table_.refused_mappings(), 3u);
  EXPECT_EQ(PathAt(10, 0x10000), "/lib/x");
}

TEST_F(ProcessTableTest, StopsAtItsCap) {
  for (uint32_t pid = 1; pid <= ProcessTable::kMaxProcesses + 5; ++pid) Fork(pid, 0);
  EXPECT_EQ(table_.size(), ProcessTable::kMaxProcesses);
  Process& beyond = table_.Get(ProcessTable::kMaxProcesses + 1);
  EXPECT_EQ(ProcessTable::FindMapping(beyond, 0x1000), nullptr);
  EXPECT_FALSE(table_.Refresh(beyond));
  Map(ProcessTable::kMaxProcesses + 1, 0x1000, 0x1000, "/bin/one");
  EXPECT_EQ(PathAt(ProcessTable::kMaxProcesses + 2, 0x1000), "")
      << "one process's code is not another's";
}

}  // namespace
}  // namespace firetower::daemon
