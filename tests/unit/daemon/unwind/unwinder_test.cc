// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/unwinder.h"

#include <gtest/gtest.h>

#include "tests/support/fake_proc.h"
#include "tests/support/fake_unwind_memory.h"
#include "tests/support/rounds.h"

namespace firetower::daemon {
namespace {

class FakeTables : public TableRequests {
 public:
  bool WantTable(uint32_t module_id, const std::shared_ptr<const Module>&, const Process& process,
                 const ProcessMapping&) override {
    if (full) return false;
    wanted.emplace_back(module_id, process.pid);
    return true;
  }
  std::vector<std::pair<uint32_t, uint32_t>> wanted;
  bool full = false;
};

constexpr uint64_t kStart = 0x10000;
constexpr uint64_t kStackAddress = 0x7ffd00000000;

class UnwinderTest : public ::testing::Test {
 protected:
  UnwinderTest() {
    Map(42, kStart, "/bin/app");
    module_ = (*processes_.Get(42).mappings)[0].module;
  }
  void Map(uint32_t pid, uint64_t start, const std::string& path) {
    SidebandEvent event;
    event.kind = SidebandKind::kMmap;
    event.pid = event.tid = pid;
    event.start = start;
    event.size_bytes = 0x1000;
    event.inode = start;
    processes_.Apply(event, path);
  }
  void Task(SidebandKind kind, uint32_t pid) {
    SidebandEvent event;
    event.kind = kind;
    event.pid = event.tid = pid;
    processes_.Apply(event, "app");
  }
  // Code whose frame is one word: the return address.
  static PackedTable OneWordFrames() {
    PackedTable table;
    table.blocks = {0, 1};
    table.rows = {0};
    table.rules.resize(1);
    table.rules[0].cfa = FT_CFA_SP;
    table.rules[0].cfa_offset = 8;
    return table;
  }
  LoadedTable Loaded() { return {module_, LoadedTable::Outcome::kTable, OneWordFrames()}; }
  Unwinder::Walk Finish(const AddressSpace& space) {
    ColdStack cold;
    cold.ip = kStart + 0x20;
    cold.sp = kStackAddress;
    addresses_.clear();
    return unwinder_.Finish(cold, std::as_bytes(std::span(stack_)), space, processes_.FindAlive(42),
                            100, addresses_, &stop_);
  }

  testing::FakeProc proc_;
  testing::FakeUnwindMemory memory_;
  FakeClock clock_{kNsPerSecond, kNsPerSecond};
  ModuleRegistry modules_;
  ProcessTable processes_{modules_, ProcFs(proc_.root()), clock_};
  FakeTables tables_;
  Unwinder unwinder_{memory_, processes_, modules_, tables_, clock_, {}};
  uint32_t module_ = 0;
  std::vector<uint64_t> stack_ = {kStart + 0x100, kStart + 0x200, 0};
  std::vector<uint64_t> addresses_;
  uint8_t stop_ = 0;
};

TEST_F(UnwinderTest, TheFirstSampleTellsTheKernelOfTheProcessAndAsksForItsTables) {
  EXPECT_EQ(memory_.FindProcess(42), nullptr);
  ASSERT_NE(unwinder_.Meet(processes_.Get(42), 77), nullptr);
  ASSERT_NE(memory_.FindProcess(42), nullptr);
  EXPECT_EQ(memory_.FindProcess(42)->identity, 77u);
  EXPECT_EQ(tables_.wanted, (std::vector<std::pair<uint32_t, uint32_t>>{{module_, 42}}));
  unwinder_.Meet(processes_.Get(42), 77);
  EXPECT_EQ(tables_.wanted.size(), 1u) << "it is on its way";
}

TEST_F(UnwinderTest, AWalkWaitsForItsTableAndIsWholeThen) {
  auto space = unwinder_.Meet(processes_.Get(42), 77);
  EXPECT_EQ(Finish(*space), Unwinder::Walk::kWaiting);
  EXPECT_TRUE(addresses_.empty());
  unwinder_.Take(Loaded());
  EXPECT_EQ(Finish(*space), Unwinder::Walk::kEnded);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kStart + 0x100, kStart + 0x200}));
  EXPECT_EQ(stop_, FT_STOP_ROOT);
}

// The kernel side walked to the return address of a handler; the interrupted function is in a file
// whose table is on its way. That step shows where the address lies, and it is corrected once.
TEST_F(UnwinderTest, AWalkThatWaitsBehindASignalIsTakenUpAgainAsItWas) {
  constexpr uint64_t kLibrary = 0x200000;
  constexpr uint64_t kInLibrary = kLibrary + 0x30;
  Map(42, kLibrary, "/lib/b");
  const uint32_t library = (*processes_.Get(42).mappings)[1].module;
  auto space = unwinder_.Meet(processes_.Get(42), 1);
  ASSERT_NE(space, nullptr);
  LoadedTable loaded = Loaded();
  loaded.table.rules[0].cfa = FT_CFA_SP_AT;
  loaded.table.rules[0].cfa_offset = 160;
  loaded.table.rules[0].extra = 168;
  loaded.table.rules[0].flags = FT_RULE_RA_SP | FT_RULE_SIGNAL;
  unwinder_.Take(loaded);
  stack_.assign(64, 0);
  stack_[160 / 8] = kStackAddress + 256;
  stack_[168 / 8] = kInLibrary;
  ColdStack cold;
  cold.ip = kStart + 0x40;
  cold.sp = kStackAddress;
  cold.returned = true;
  addresses_ = {kStart + 0x300, kStart + 0x40};
  const auto finish = [&] {
    return unwinder_.Finish(cold, std::as_bytes(std::span(stack_)), *space,
                            processes_.FindAlive(42), 100, addresses_, &stop_);
  };
  EXPECT_EQ(finish(), Unwinder::Walk::kWaiting);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kStart + 0x300, kStart + 0x40}));
  unwinder_.Take({library, LoadedTable::Outcome::kTable, OneWordFrames()});
  EXPECT_EQ(finish(), Unwinder::Walk::kEnded);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kStart + 0x300, kStart + 0x41, kInLibrary + 1}));
}

TEST_F(UnwinderTest, AFileWithoutATableIsWalkedByFramePointersAtOnce) {
  auto space = unwinder_.Meet(processes_.Get(42), 77);
  unwinder_.Take({module_, LoadedTable::Outcome::kNone, {}});
  EXPECT_EQ(Finish(*space), Unwinder::Walk::kEnded);
  // Its RBP is zero: no frame record, and no word that this is the thread's first function.
  EXPECT_EQ(stop_, FT_STOP_FRAME_POINTER);
}

// Behind its pops a function's rule says still where RBP was, which is below RSP by then (GCC
// writes no DW_CFA_restore in epilogues).
TEST_F(UnwinderTest, ALeafsRedZoneIsPartOfAColdStack) {
  auto space = unwinder_.Meet(processes_.Get(42), 77);
  LoadedTable loaded = Loaded();
  loaded.table.rules[0].flags = FT_RULE_BP_CFA;
  loaded.table.rules[0].bp_offset = -48;
  unwinder_.Take(std::move(loaded));
  ColdStack cold;
  cold.ip = kStart + 0x20;
  cold.sp = kStackAddress + 0x200;
  ASSERT_EQ(ft_cold_begin(cold.sp), cold.sp - 128);
  std::vector<uint64_t> stack(32);
  stack[128 / 8] = kStart + 0x100;
  unwinder_.Finish(cold, std::as_bytes(std::span(stack)), *space, processes_.FindAlive(42), 1,
                   addresses_, &stop_);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kStart + 0x100}));
}

// A missing page reads as zeros, which are not a return address.
TEST_F(UnwinderTest, AnAbsentPageOfAColdStackIsNotRead) {
  auto space = unwinder_.Meet(processes_.Get(42), 1);
  unwinder_.Take(Loaded());
  ColdStack cold;
  cold.ip = kStart + 0x20;
  cold.sp = kStackAddress + 4096 - 8;  // one word on the first page
  stack_.assign(4096 / sizeof(uint64_t), 0);
  stack_[(cold.sp - ft_cold_begin(cold.sp)) / sizeof(uint64_t)] = kStart + 0x100;
  for (const bool absent : {false, true}) {
    cold.absent[1] = absent ? 1 : 0;
    addresses_.clear();
    EXPECT_EQ(unwinder_.Finish(cold, std::as_bytes(std::span(stack_)), *space,
                               processes_.FindAlive(42), 100, addresses_, &stop_),
              Unwinder::Walk::kEnded);
    EXPECT_EQ(addresses_, std::vector<uint64_t>{kStart + 0x100});
    EXPECT_EQ(stop_, absent ? FT_STOP_COLD : FT_STOP_ROOT);
  }
}

TEST_F(UnwinderTest, AColdStackBeginsOnThePageOfItsStackPointer) {
  EXPECT_EQ(ft_cold_begin(kStackAddress), kStackAddress) << "what is below may not be there";
  EXPECT_EQ(ft_cold_begin(kStackAddress + 16), kStackAddress);
  EXPECT_EQ(ft_cold_begin(kStackAddress + 4095), kStackAddress + 4095 - 128);
}

TEST_F(UnwinderTest, AFileThatCannotBeOpenedIsAskedForThreeTimes) {
  for (size_t tries = 1; tries <= 3; ++tries) {
    unwinder_.Meet(processes_.Get(42), 77);
    ASSERT_EQ(tables_.wanted.size(), tries);
    unwinder_.Take({module_, LoadedTable::Outcome::kFailed, {}});
  }
  unwinder_.Meet(processes_.Get(42), 77);
  EXPECT_EQ(tables_.wanted.size(), 3u);
  EXPECT_EQ(memory_.modules()[module_].state, uint32_t{FT_MODULE_NO_TABLE});
}

TEST_F(UnwinderTest, AMinuteLaterItIsAskedForAgain) {
  unwinder_.Meet(processes_.Get(42), 77);
  for (int i = 0; i < 3; ++i) unwinder_.Take({module_, LoadedTable::Outcome::kFailed, {}});
  size_t before = tables_.wanted.size();
  unwinder_.Meet(processes_.Get(42), 77);
  ASSERT_EQ(tables_.wanted.size(), before);
  unwinder_.Sweep();
  unwinder_.Meet(processes_.Get(42), 77);
  EXPECT_EQ(tables_.wanted.size(), before + 1);
  unwinder_.Take(Loaded());
  EXPECT_EQ(memory_.modules()[module_].state, uint32_t{FT_MODULE_TABLE});
}

TEST_F(UnwinderTest, AFileWhoseProcessesEndTooEarlyIsAskedForAgainAndAgain) {
  for (size_t tries = 1; tries <= 20; ++tries) {
    unwinder_.Meet(processes_.Get(42), 77);
    ASSERT_EQ(tables_.wanted.size(), tries);
    unwinder_.Take({module_, LoadedTable::Outcome::kGone, {}});
  }
  EXPECT_EQ(memory_.modules()[module_].state, uint32_t{FT_MODULE_COLD});
}

TEST_F(UnwinderTest, WhereNothingCanBeAskedForTheStackIsCutAndSaysSo) {
  tables_.full = true;
  auto space = unwinder_.Meet(processes_.Get(42), 77);
  EXPECT_EQ(Finish(*space), Unwinder::Walk::kEnded);
  EXPECT_EQ(stop_, FT_STOP_COLD);
}

TEST_F(UnwinderTest, ANewMappingOfAKnownProcessIsToldWithTheRound) {
  unwinder_.Meet(processes_.Get(42), 77);
  unwinder_.EndRound();
  uint32_t before = memory_.FindProcess(42)->mappings;
  Map(42, 0x50000, "/lib/new.so");
  EXPECT_EQ(memory_.FindProcess(42)->mappings, before);
  unwinder_.EndRound();
  EXPECT_NE(memory_.FindProcess(42)->mappings, before);
  EXPECT_EQ(tables_.wanted.size(), 2u) << "and its table is asked for before its first sample";
}

TEST_F(UnwinderTest, ProcessesNobodySampledAreNotTold) {
  Map(43, kStart, "/bin/other");
  unwinder_.EndRound();
  EXPECT_EQ(memory_.FindProcess(43), nullptr);
}

TEST_F(UnwinderTest, AnExecCountsTheIdentityOn) {
  unwinder_.Meet(processes_.Get(42), 77);
  Task(SidebandKind::kExec, 42);
  unwinder_.EndRound();
  EXPECT_EQ(memory_.FindProcess(42)->identity, 78u);
}

TEST_F(UnwinderTest, ADeadProcessIsWithdrawnAndItsListFreed) {
  unwinder_.Meet(processes_.Get(42), 77);
  Task(SidebandKind::kExit, 42);
  unwinder_.EndRound();
  EXPECT_EQ(memory_.FindProcess(42), nullptr);
  clock_.Advance(Arena::kGraceNs);
  unwinder_.EndRound();
  EXPECT_EQ(unwinder_.arena_bytes(), 0u);
}

TEST_F(UnwinderTest, SweepDropsTablesOfFilesThatNobodyMaps) {
  unwinder_.Meet(processes_.Get(42), 77);
  unwinder_.Take(Loaded());
  unwinder_.Sweep();
  EXPECT_EQ(unwinder_.tables().size(), 1u);
  Task(SidebandKind::kExec, 42);  // an empty address space
  unwinder_.Sweep();
  EXPECT_EQ(unwinder_.tables().size(), 1u) << "it may run again soon";
  unwinder_.Sweep();
  EXPECT_EQ(unwinder_.tables().size(), 0u);
}

TEST_F(UnwinderTest, TheIdOfAForgottenFileStartsAnew) {
  unwinder_.Meet(processes_.Get(42), 77);
  for (int i = 0; i < 2; ++i) unwinder_.Take({module_, LoadedTable::Outcome::kFailed, {}});
  unwinder_.Take({module_, LoadedTable::Outcome::kNone, {}});
  Task(SidebandKind::kExec, 42);
  unwinder_.Sweep();
  clock_.Advance(ModuleRegistry::kForgetAfterNs);
  unwinder_.Sweep();
  Map(42, kStart, "/bin/another");
  ASSERT_EQ((*processes_.Get(42).mappings)[0].module, module_);
  EXPECT_EQ(memory_.modules()[module_].state, uint32_t{FT_MODULE_COLD});
  unwinder_.Meet(processes_.Get(42), 78);
  ASSERT_EQ(tables_.wanted.size(), 2u) << "asked for again, under the same id";
  unwinder_.Take({module_, LoadedTable::Outcome::kFailed, {}});
  unwinder_.Meet(processes_.Get(42), 78);
  EXPECT_EQ(tables_.wanted.size(), 3u) << "failures of the file before do not count";
}

TEST_F(UnwinderTest, AFileWhoseTableIsOnItsWayIsNotForgotten) {
  unwinder_.Meet(processes_.Get(42), 77);
  Task(SidebandKind::kExec, 42);
  unwinder_.Sweep();
  clock_.Advance(ModuleRegistry::kForgetAfterNs);
  unwinder_.Sweep();
  Map(42, kStart, "/bin/another");
  EXPECT_NE((*processes_.Get(42).mappings)[0].module, module_);
}

TEST_F(UnwinderTest, WhatWasNotCopiedIsNotCalledAbsent) {
  auto space = unwinder_.Meet(processes_.Get(42), 77);
  unwinder_.Take(Loaded());
  stack_.resize(1);
  EXPECT_EQ(Finish(*space), Unwinder::Walk::kEnded);
  EXPECT_EQ(addresses_.size(), 1u);
  EXPECT_EQ(stop_, FT_STOP_COLD);
}

}  // namespace
}  // namespace firetower::daemon
