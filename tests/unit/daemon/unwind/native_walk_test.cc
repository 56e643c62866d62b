// SPDX-License-Identifier: Apache-2.0
// Steps of bpf/walk/unwind.h on stacks made by hand, with tables made by hand.
#include "daemon/unwind/native_walk.h"

#include <gtest/gtest.h>

#include <cstring>

#include "daemon/process/module.h"
#include "daemon/unwind/address_spaces.h"
#include "daemon/unwind/module_tables.h"
#include "tests/support/fake_unwind_memory.h"

namespace firetower::daemon {
namespace {

constexpr uint32_t kApp = 9;
constexpr uint32_t kCold = 10;
constexpr uint64_t kAppStart = 0x555555000000;
constexpr uint64_t kJitStart = 0x7f0000000000;
constexpr uint64_t kColdStart = 0x7f1000000000;
constexpr uint64_t kStack = 0x7ffd00000000;

class NativeWalk : public ::testing::Test {
 protected:
  NativeWalk() : stack_(512) {
    Process process;
    process.pid = 42;
    process.mappings = std::make_shared<std::vector<ProcessMapping>>(
        std::vector<ProcessMapping>{{kAppStart, kAppStart + 0x1000, 0, kApp, 0},
                                    {kJitStart, kJitStart + 0x1000, 0, ModuleRegistry::kJit, 0},
                                    {kColdStart, kColdStart + 0x1000, 0, kCold, 0}});
    space_ = spaces_.Publish(process);
    walk_.mappings = space_->position;
    walk_.mapping_count = space_->count;
    walk_.sp = kStack;
  }

  // One rule for the first block of the app from `offset` on.
  void SetRule(uint32_t offset, ft_rule rule, uint32_t module = kApp) {
    PackedTable table;
    table.blocks = {0, 2};
    table.rows = {0u, offset | 1u << FT_BLOCK_SHIFT};
    table.rules = {ft_rule{}, rule};
    tables_.Insert(module, table);
  }
  static ft_rule FromSp(int32_t offset) {
    ft_rule rule{};
    rule.cfa = FT_CFA_SP;
    rule.cfa_offset = offset;
    return rule;
  }
  // Returns the rule of the place that signal handlers return to, above the kernel's
  // frame.
  static ft_rule SignalReturn() {
    ft_rule rule{};
    rule.cfa = FT_CFA_SP_AT;
    rule.cfa_offset = 160;
    rule.extra = 168;
    rule.bp_offset = 120;
    rule.flags = FT_RULE_RA_SP | FT_RULE_BP_SP | FT_RULE_SIGNAL;
    return rule;
  }
  void Put(uint64_t address, uint64_t value) { stack_.at((address - kStack) / 8) = value; }
  int Step(size_t frames = 1) {
    WalkMemory memory;
    memory.arena = memory_.arena();
    memory.arena_bytes = uint64_t{memory_.max_slabs()} * FT_SLAB_BYTES;
    memory.modules = memory_.modules();
    memory.stack_begin = kStack;
    memory.stack = std::as_bytes(std::span(stack_));
    memory.registers = registers_;
    memory.stack_start = stack_start_;
    return WalkOn(memory, walk_, frames, addresses_);
  }

  testing::FakeUnwindMemory memory_;
  FakeClock clock_{1, 1};
  Arena arena_{memory_, 4u << 20};
  AddressSpaces spaces_{memory_, arena_, clock_};
  ModuleTables tables_{memory_, arena_, 4u << 20, clock_};
  std::shared_ptr<const AddressSpace> space_;
  std::vector<uint64_t> stack_;
  std::vector<uint64_t> registers_ = std::vector<uint64_t>(15);
  std::vector<uint64_t> addresses_;
  uint64_t stack_start_ = 0;
  ft_walk walk_{};
};

TEST_F(NativeWalk, AStepByARowGivesTheCallersRegisters) {
  ft_rule rule = FromSp(32);
  rule.flags = FT_RULE_BP_CFA;
  rule.bp_offset = -16;
  SetRule(0x10, rule);
  Put(kStack + 24, kAppStart + 0x234);
  Put(kStack + 16, 0xb0b0);
  walk_.ip = kAppStart + 0x20;
  Step();
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kAppStart + 0x234}));
  EXPECT_EQ(walk_.sp, kStack + 32);
  EXPECT_EQ(walk_.bp, 0xb0b0u);
  EXPECT_EQ(walk_.returned, 1u);
}

// In one walk, so that what one frame found is there for the next.
TEST_F(NativeWalk, ARuleThatWasFoundIsItsOffsetsAndItsTablesAlone) {
  ft_rule pushes = FromSp(8);
  pushes.steps = 1u << 0 | 1u << 2;  // behind 1 and behind 3 bytes
  SetRule(0x10, pushes);
  SetRule(0x10, FromSp(64), kCold);
  struct Frame {
    uint64_t pc;
    uint64_t bytes;  // of its own, up to its CFA
  };
  const Frame frames[] = {{kAppStart + 0x20, 24},  {kAppStart + 0x20, 24},  {kAppStart + 0x11, 16},
                          {kAppStart + 0x11, 16},  {kAppStart + 0x10, 8},   {kAppStart + 0x20, 24},
                          {kColdStart + 0x20, 64}, {kColdStart + 0x20, 64}, {kAppStart + 0x20, 24}};
  walk_.ip = frames[0].pc;
  uint64_t sp = kStack;
  std::vector<uint64_t> callers;
  for (size_t i = 0; i + 1 < std::size(frames); ++i) {
    sp += frames[i].bytes;
    callers.push_back(frames[i + 1].pc + 1);
    Put(sp - 8, callers.back());
  }
  Step(callers.size());
  EXPECT_EQ(addresses_, callers);
  EXPECT_EQ(walk_.sp, sp);
}

TEST_F(NativeWalk, AReturnAddressIsLookedUpInItsCall) {
  SetRule(0x20, FromSp(8));
  Put(kStack, kAppStart + 0x234);
  walk_.ip = kAppStart + 0x20;  // behind the end of the code that has no rule
  walk_.returned = 1;
  walk_.bp = 0;
  EXPECT_EQ(Step(), FT_STEP_ENDED);
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_ROOT}) << "by frame pointer: no rule at 0x1f";
  walk_.returned = 0;
  addresses_.clear();
  Step();
  EXPECT_EQ(addresses_.size(), 1u);
}

TEST_F(NativeWalk, InsideARunOfPushesEachStepCounts) {
  ft_rule rule = FromSp(8);
  rule.steps = 1u << 0 | 1u << 2;  // behind 1 and behind 3 bytes
  SetRule(0x10, rule);
  const std::pair<uint64_t, uint64_t> cases[] = {
      {0x10, 8}, {0x11, 16}, {0x12, 16}, {0x13, 24}, {0x100, 24}};
  for (auto [at, cfa] : cases) {
    Put(kStack + cfa - 8, kAppStart + 0x400 + at);
    walk_.ip = kAppStart + at;
    walk_.sp = kStack;
    walk_.returned = 0;
    addresses_.clear();
    Step();
    EXPECT_EQ(walk_.sp, kStack + cfa) << at;
    EXPECT_EQ(addresses_.front(), kAppStart + 0x400 + at);
  }
}

// RBP points below RSP, as at a goroutine's frame while the thread's own stack is in use.
TEST_F(NativeWalk, AChangeOfStacksMayGoDown) {
  Put(kStack + 32, 0xb0b0);
  Put(kStack + 40, kAppStart + 0x234);
  ft_rule rule{};
  rule.cfa = FT_CFA_BP_OTHER;
  rule.cfa_offset = 16;
  rule.flags = FT_RULE_BP_CFA;
  rule.bp_offset = -16;
  SetRule(0x10, rule);
  walk_.ip = kAppStart + 0x20;
  walk_.sp = kStack + 1024;
  walk_.bp = kStack + 32;
  Step();
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kAppStart + 0x234}));
  EXPECT_EQ(walk_.sp, kStack + 48);
  EXPECT_EQ(walk_.bp, 0xb0b0u);
}

TEST_F(NativeWalk, NoOtherCallerLiesBelow) {
  Put(kStack + 40, kAppStart + 0x234);
  ft_rule rule{};
  rule.cfa = FT_CFA_BP;
  rule.cfa_offset = 16;
  SetRule(0x10, rule);
  walk_.ip = kAppStart + 0x20;
  walk_.sp = kStack + 1024;
  walk_.bp = kStack + 32;
  EXPECT_EQ(Step(), FT_STEP_ENDED);
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_FRAME_POINTER});
}

TEST_F(NativeWalk, AnUndefinedReturnAddressIsTheRoot) {
  ft_rule rule{};
  rule.cfa = FT_CFA_ROOT;
  SetRule(0x10, rule);
  walk_.ip = kAppStart + 0x10;
  EXPECT_EQ(Step(), FT_STEP_ENDED);
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_ROOT});
}

TEST_F(NativeWalk, AnInterruptedFrameIsNotLookedUpBeforeItself) {
  SetRule(0x10, SignalReturn());
  Put(kStack + 160, kStack + 1024);
  Put(kStack + 168, kAppStart + 0x300);
  Put(kStack + 120, 0xb0b0);
  walk_.ip = kAppStart + 0x10;
  Step();
  EXPECT_EQ(walk_.sp, kStack + 1024);
  EXPECT_EQ(walk_.bp, 0xb0b0u);
  EXPECT_EQ(walk_.returned, 0u);
  // One more than the interrupted address, because readers of addresses subtract one.
  EXPECT_EQ(addresses_.front(), kAppStart + 0x301);
}

// A handler, its return address, and the interrupted function: the handler returns to the first
// byte of a function.
TEST_F(NativeWalk, WhereAHandlerReturnsToIsNotLookedUpBeforeItself) {
  PackedTable table;
  table.blocks = {0, 3};
  table.rows = {0x10u, 0x3fu | 1u << FT_BLOCK_SHIFT, 0x49u | 2u << FT_BLOCK_SHIFT};
  table.rules = {FromSp(8), SignalReturn(), ft_rule{}};
  tables_.Insert(kApp, table);
  Put(kStack, kAppStart + 0x40);
  Put(kStack + 8 + 160, kStack + 1024);
  Put(kStack + 8 + 168, kAppStart + 0x10);
  Put(kStack + 1024, kAppStart + 0x300);
  walk_.ip = kAppStart + 0x20;
  EXPECT_EQ(Step(3), FT_STEP_ENDED);
  // The reader takes one off from each: the first instruction of both, and a call.
  EXPECT_EQ(addresses_,
            (std::vector<uint64_t>{kAppStart + 0x41, kAppStart + 0x11, kAppStart + 0x300}));
}

// The signal came while the handler before was about to leave: no frame returned there.
TEST_F(NativeWalk, WhatIsInterruptedWhereHandlersReturnToStaysWhereItWas) {
  PackedTable table;
  table.blocks = {0, 2};
  table.rows = {0x3fu, 0x49u | 1u << FT_BLOCK_SHIFT};
  table.rules = {SignalReturn(), ft_rule{}};
  tables_.Insert(kApp, table);
  Put(kStack + 160, kStack + 1024);
  Put(kStack + 168, kAppStart + 0x47);
  Put(kStack + 1024 + 160, kStack + 2048);
  Put(kStack + 1024 + 168, kAppStart + 0x300);
  walk_.ip = kAppStart + 0x40;
  EXPECT_EQ(Step(2), FT_STEP_ENDED);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kAppStart + 0x48, kAppStart + 0x301}));
}

// Go's handler makes the interrupted code call runtime.sigpanic, which calls others as any
// function.
TEST_F(NativeWalk, AFunctionThatWasMadeToBeCalledReturnsToItsCalls) {
  PackedTable table;
  table.blocks = {0, 2};
  table.rows = {0x10u, 0x40u | 1u << FT_BLOCK_SHIFT};
  table.rules = {FromSp(8), FromSp(16)};
  table.rules[1].flags = FT_RULE_SIGNAL;
  tables_.Insert(kApp, table);
  Put(kStack, kAppStart + 0x50);
  Put(kStack + 16, kAppStart + 0x20);
  walk_.ip = kAppStart + 0x20;
  Step(2);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kAppStart + 0x50, kAppStart + 0x21}));
}

TEST_F(NativeWalk, ALeafMayNeedAnotherRegister) {
  ft_rule rule{};
  rule.cfa = FT_CFA_REG;
  rule.reg = 10;  // r10, while a function realigns its stack
  rule.cfa_offset = 0;
  SetRule(0x10, rule);
  registers_[7] = kStack + 64;  // r10 in struct pt_regs
  Put(kStack + 56, kAppStart + 0x234);
  walk_.ip = kAppStart + 0x10;
  Step();
  EXPECT_EQ(walk_.sp, kStack + 64);
}

// The rows of such a frame as GCC 12 writes them at -Os: CFA in R10, RBP saved where RBP points, up
// to the return, though RBP has been popped by then.
TEST_F(NativeWalk, ARealignedFramesEpilogueHasRbpBack) {
  ft_rule rule{};
  rule.cfa = FT_CFA_REG;
  rule.reg = 10;
  rule.flags = FT_RULE_BP_BP;
  SetRule(0x10, rule);
  registers_[7] = kStack + 64;
  Put(kStack + 56, kAppStart + 0x234);
  walk_.ip = kAppStart + 0x10;
  walk_.bp = 7;  // the caller's, which is no pointer
  Step();
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kAppStart + 0x234}));
  EXPECT_EQ(walk_.bp, 7u);
}

// OpenSSL's AES-GCM keeps its frame in RAX and calls helpers that leave it alone.
TEST_F(NativeWalk, ALeafsRegistersAreItsDirectCallersToo) {
  PackedTable table;
  table.blocks = {0, 2};
  table.rows = {0x10u, 0x40u | 1u << FT_BLOCK_SHIFT};
  table.rules = {FromSp(8), ft_rule{}};
  table.rules[1].cfa = FT_CFA_REG;
  table.rules[1].reg = 0;
  table.rules[1].cfa_offset = 8;
  tables_.Insert(kApp, table);
  registers_[10] = kStack + 120;  // rax in struct pt_regs
  Put(kStack, kAppStart + 0x50);
  Put(kStack + 120, kAppStart + 0x60);
  walk_.ip = kAppStart + 0x20;
  EXPECT_EQ(Step(3), FT_STEP_ENDED);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kAppStart + 0x50, kAppStart + 0x60}));
  EXPECT_EQ(walk_.sp, kStack + 128) << "whose own caller's RAX is another matter";
}

TEST_F(NativeWalk, ARegisterOfWhatASignalInterruptedIsNotTheHandlers) {
  PackedTable table;
  table.blocks = {0, 2};
  table.rows = {0x10u, 0x40u | 1u << FT_BLOCK_SHIFT};
  table.rules = {FromSp(8), ft_rule{}};
  table.rules[0].flags = FT_RULE_SIGNAL;
  table.rules[1].cfa = FT_CFA_REG;
  table.rules[1].reg = 0;
  tables_.Insert(kApp, table);
  registers_[10] = kStack + 128;
  Put(kStack, kAppStart + 0x50);
  Put(kStack + 120, kAppStart + 0x60);
  walk_.ip = kAppStart + 0x20;
  EXPECT_EQ(Step(3), FT_STEP_ENDED);
  EXPECT_EQ(addresses_.size(), 1u);
  EXPECT_NE(walk_.stop, uint32_t{FT_STOP_ROOT});
}

TEST_F(NativeWalk, CodeWithoutATableIsWalkedByFramePointers) {
  walk_.ip = kJitStart + 0x10;
  walk_.bp = kStack + 16;
  Put(kStack + 16, kStack + 64);
  Put(kStack + 24, kJitStart + 0x99);
  Put(kStack + 64, 0);
  Put(kStack + 72, 0);
  EXPECT_EQ(Step(5), FT_STEP_ENDED);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kJitStart + 0x99}));
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_ROOT});
}

TEST_F(NativeWalk, ARegisterThatIsNoFramePointerEndsTheWalk) {
  walk_.ip = kJitStart + 0x10;
  for (uint64_t bp : {uint64_t{0x1234}, kStack - 8, kStack + 4}) {
    walk_.bp = bp;
    EXPECT_EQ(Step(), FT_STEP_ENDED);
    EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_FRAME_POINTER});
  }
}

// musl has no call frame information: main's caller keeps argc in RBP, and what called that is
// named by the word below the stack's first one.
TEST_F(NativeWalk, MainsCallerWithoutARuleIsWalkedToTheProcesssStart) {
  SetRule(0x10, FromSp(8));
  stack_start_ = kStack + 56;
  Put(kStack, kJitStart + 0x20);
  Put(kStack + 48, kJitStart + 0x80);
  walk_.ip = kAppStart + 0x10;
  walk_.bp = 2;
  EXPECT_EQ(Step(5), FT_STEP_ENDED);
  EXPECT_EQ(addresses_, (std::vector<uint64_t>{kJitStart + 0x20, kJitStart + 0x80}));
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_ROOT});
}

TEST_F(NativeWalk, AwayFromTheProcesssStartNothingIsGuessed) {
  SetRule(0x10, FromSp(8));
  Put(kStack, kJitStart + 0x20);
  Put(kStack + 248, kJitStart + 0x80);
  auto stop_with = [&](uint64_t stack_start) {
    stack_start_ = stack_start;
    walk_ = ft_walk{};
    walk_.mappings = space_->position;
    walk_.mapping_count = space_->count;
    walk_.sp = kStack;
    walk_.ip = kAppStart + 0x10;
    walk_.bp = 2;
    EXPECT_EQ(Step(5), FT_STEP_ENDED);
    return walk_.stop;
  };
  EXPECT_EQ(stop_with(kStack + 256), uint32_t{FT_STOP_FRAME_POINTER}) << "too far from it";
  EXPECT_EQ(stop_with(kStack + 8), uint32_t{FT_STOP_FRAME_POINTER}) << "at it";
  EXPECT_EQ(stop_with(kStack + 64), uint32_t{FT_STOP_FRAME_POINTER}) << "no code there";
  EXPECT_EQ(stop_with(0), uint32_t{FT_STOP_FRAME_POINTER}) << "not known";
}

TEST_F(NativeWalk, ColdCodeStopsTheWalkWhereItStands) {
  SetRule(0x10, FromSp(8));
  Put(kStack, kColdStart + 0x50);
  walk_.ip = kAppStart + 0x10;
  EXPECT_EQ(Step(5), FT_STEP_COLD);
  EXPECT_EQ(addresses_.size(), 1u);
  EXPECT_EQ(walk_.ip, kColdStart + 0x50);
  EXPECT_EQ(walk_.sp, kStack + 8);
}

TEST_F(NativeWalk, ACallerOutsideOfAllCodeIsColdByRuleAndTheEndByFramePointer) {
  SetRule(0x10, FromSp(8));
  Put(kStack, 0x123456);
  walk_.ip = kAppStart + 0x10;
  EXPECT_EQ(Step(5), FT_STEP_COLD) << "a library that was mapped a moment ago";
  walk_.ip = kJitStart;
  walk_.returned = 0;
  walk_.sp = kStack;
  walk_.bp = kStack;
  Put(kStack, kStack + 64);
  Put(kStack + 8, 0x123456);
  EXPECT_EQ(Step(5), FT_STEP_ENDED);
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_RETURN});
}

TEST_F(NativeWalk, AStackThatDoesNotGrowDownIsRefused) {
  SetRule(0x10, FromSp(0));
  Put(kStack, kAppStart + 0x50);
  walk_.sp = kStack + 8;
  ft_rule rule = FromSp(-8);
  SetRule(0x10, rule);
  walk_.ip = kAppStart + 0x10;
  EXPECT_EQ(Step(), FT_STEP_ENDED);
  EXPECT_NE(walk_.stop, uint32_t{FT_STOP_ROOT});
}

TEST_F(NativeWalk, WhatIsNotInTheCopyIsAnAbsentPage) {
  SetRule(0x10, FromSp(8 + 512 * 8));
  walk_.ip = kAppStart + 0x10;
  EXPECT_EQ(Step(), FT_STEP_ENDED);
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_PAGE});
}

TEST_F(NativeWalk, DepthIsBounded) {
  SetRule(0x10, FromSp(8));
  for (size_t i = 0; i < 100; ++i) Put(kStack + i * 8, kAppStart + 0x50);
  walk_.ip = kAppStart + 0x10;
  EXPECT_EQ(Step(20), FT_STEP_ENDED);
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_DEPTH});
  EXPECT_EQ(addresses_.size(), 20u);
}

TEST_F(NativeWalk, MappingsAreFoundAmongThousands) {
  Process process;
  process.pid = 43;
  process.mappings = std::make_shared<std::vector<ProcessMapping>>();
  constexpr uint64_t kCount = 5000;
  for (uint64_t i = 0; i < kCount; ++i) {
    process.mappings->push_back(
        {0x100000 + i * 0x2000, 0x101000 + i * 0x2000, 0, ModuleRegistry::kJit, 0});
  }
  auto space = spaces_.Publish(process);
  ASSERT_NE(space, nullptr);
  walk_.mappings = space->position;
  walk_.mapping_count = space->count;
  walk_.bp = 0;
  for (uint64_t i : {uint64_t{0}, uint64_t{1}, uint64_t{2500}, kCount - 1}) {
    walk_.begin = walk_.end = 0;
    walk_.ip = 0x100000 + i * 0x2000 + 0x800;
    EXPECT_EQ(Step(), FT_STEP_ENDED) << i;
    walk_.begin = walk_.end = 0;
    walk_.ip = 0x101000 + i * 0x2000;  // the gap behind it
    EXPECT_EQ(Step(), FT_STEP_COLD) << i;
  }
}

}  // namespace
}  // namespace firetower::daemon
