// SPDX-License-Identifier: Apache-2.0
// Instructions are encoded by hand after the Intel manual, volume 2; what they do to the stack
// follows from them.
#include "symbolizer/go/go_frame.h"

#include <gtest/gtest.h>

#include <string>

#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {
namespace {

using Cfa = UnwindRule::Cfa;
using Place = UnwindRule::Place;
using std::string_literals::operator""s;

constexpr uint64_t kAt = 0x401000;

GoFrame FramePointer(const std::string& code, int32_t depth) {
  GoFrame frame;
  FindGoFramePointer(std::as_bytes(std::span(code)), kAt, depth, frame);
  return frame;
}

TEST(GoFrame, KnowsThePrologueSinceGo121) {
  // push rbp | mov rbp, rsp; sub rsp, 0x28
  GoFrame frame = FramePointer("\x55\x48\x89\xe5\x48\x83\xec\x28"s, 8);
  EXPECT_EQ(frame.rbp_saved_elf_vaddr, kAt);
  EXPECT_EQ(frame.rbp_set_elf_vaddr, kAt + 3);
}

TEST(GoFrame, KnowsTheProloguesBeforeGo121) {
  // … sub rsp, 0x30 | mov [rsp + 0x28], rbp; lea rbp, [rsp + 0x28]
  GoFrame frame = FramePointer("\x30\x48\x89\x6c\x24\x28\x48\x8d\x6c\x24\x28"s, 0x30);
  EXPECT_EQ(frame.rbp_saved_elf_vaddr, kAt + 5);
  EXPECT_EQ(frame.rbp_set_elf_vaddr, kAt + 10);
  // … sub rsp, 0x190 | mov [rsp + 0x188], rbp; lea rbp, [rsp + 0x188]
  frame =
      FramePointer("\x00\x48\x89\xac\x24\x88\x01\x00\x00\x48\x8d\xac\x24\x88\x01\x00\x00"s, 0x190);
  EXPECT_EQ(frame.rbp_saved_elf_vaddr, kAt + 8);
  EXPECT_EQ(frame.rbp_set_elf_vaddr, kAt + 16);
  // … sub rsp, 8 | mov [rsp], rbp; lea rbp, [rsp]
  frame = FramePointer("\x08\x48\x89\x2c\x24\x48\x8d\x2c\x24"s, 8);
  EXPECT_EQ(frame.rbp_saved_elf_vaddr, kAt + 4);
  EXPECT_EQ(frame.rbp_set_elf_vaddr, kAt + 8);
}

TEST(GoFrame, TakesOtherCodeForNoPrologue) {
  for (const std::string& code :
       {""s, "\x9c"s, "\x9c\xfc\x48\x83\xec\x28"s,  // pushf; cld; sub rsp, 0x28
        "\x30\x48\x89\x6c\x24\x20"s,                // another slot than the frame pointer's
        "\x30\x48\x89\x6c\x24"s, "\x30\x48\x89\x5c\x24\x28"s}) {  // cut; rbx
    GoFrame frame = FramePointer(code, 0x30);
    EXPECT_EQ(frame.rbp_saved_elf_vaddr, UINT64_MAX);
    EXPECT_EQ(frame.rbp_set_elf_vaddr, UINT64_MAX);
  }
  // RBP is pushed, but points nowhere: mov rbp, rax.
  EXPECT_EQ(FramePointer("\x55\x48\x89\xc5"s, 8).rbp_set_elf_vaddr, UINT64_MAX);
}

// runtime/asm_amd64.s and sys_linux_amd64.s.
TEST(GoFrame, KnowsTheRuntimesAssembly) {
  EXPECT_EQ(ClassifyGoFunction("main.main", 0).use, GoStackUse::kPlain);
  EXPECT_EQ(ClassifyGoFunction("runtime.goexit", 0).use, GoStackUse::kRoot);
  EXPECT_EQ(ClassifyGoFunction("runtime.new", kGoTopFrame).use, GoStackUse::kRoot);
  // The flag says that a traceback ends there; the kernel's frame is one that we can pass.
  EXPECT_EQ(ClassifyGoFunction("runtime.sigtramp", kGoTopFrame).use, GoStackUse::kPlain);
  EXPECT_EQ(ClassifyGoFunction("runtime.sigreturn__sigaction", 0).use, GoStackUse::kSignalReturn);
  EXPECT_EQ(ClassifyGoFunction("runtime.systemstack", kGoSetsStackPointer).use,
            GoStackUse::kBorrows);
  EXPECT_EQ(ClassifyGoFunction("runtime.mcall", kGoSetsStackPointer).use, GoStackUse::kLeaves);
  EXPECT_EQ(ClassifyGoFunction("crypto.blocks", kGoSetsStackPointer).use, GoStackUse::kUnknown);
  EXPECT_TRUE(ClassifyGoFunction("runtime.asyncPreempt", 0).interrupts);
  EXPECT_FALSE(ClassifyGoFunction("runtime.asyncPreempt2", 0).interrupts);
}

TEST(GoFrame, FindsMovesIntoTheStackPointer) {
  GoFrame frame;
  frame.use = GoStackUse::kLeaves;
  // nop; mov rsp, [r14 + 0x38]; mov rsp, r12; mov rsp, rsi; mov rbx, [rsp + 8]; mov rbx, rsp
  const std::string code =
      "\x90\x49\x8b\x66\x38\x4c\x89\xe4\x48\x89\xf4\x48\x8b\x5c\x24\x08\x48\x89\xe3"s;
  FindStackSwitches(std::as_bytes(std::span(code)), kAt, frame);
  EXPECT_EQ(frame.switches_elf_vaddr, (std::vector<uint64_t>{kAt + 5, kAt + 8, kAt + 11}));
  // and rsp, -32 counts where nothing else is known.
  const std::string align = "\x48\x83\xe4\xe0"s;
  GoFrame unknown;
  unknown.use = GoStackUse::kUnknown;
  FindStackSwitches(std::as_bytes(std::span(align)), kAt, unknown);
  EXPECT_EQ(unknown.switches_elf_vaddr, std::vector<uint64_t>{kAt + 4});
  GoFrame known;
  FindStackSwitches(std::as_bytes(std::span(align)), kAt, known);
  EXPECT_TRUE(known.switches_elf_vaddr.empty());
}

TEST(GoFrame, RulesFollowTheDepth) {
  GoFrame frame;
  frame.rbp_saved_elf_vaddr = kAt;
  UnwindRule entry = GoRuleAt(frame, kAt - 1, 0);
  EXPECT_EQ(entry.cfa_offset, 8);
  EXPECT_EQ(entry.rbp, Place::kSame);
  UnwindRule body = GoRuleAt(frame, kAt + 4, 0x30);
  EXPECT_EQ(body.cfa, Cfa::kRegister);
  EXPECT_EQ(body.cfa_register, kDwarfRsp);
  EXPECT_EQ(body.cfa_offset, 0x38);
  EXPECT_EQ(body.rbp, Place::kCfa);
  EXPECT_EQ(body.rbp_offset, -16);
  EXPECT_EQ(GoRuleAt(frame, kAt + 40, 0).rbp, Place::kSame);
  EXPECT_EQ(GoRuleAt(frame, kAt, -8).cfa, Cfa::kNone);
  EXPECT_EQ(GoRuleAt(frame, kAt, INT32_MAX - 7).cfa, Cfa::kNone);
}

TEST(GoFrame, CrossesToTheStackThatRbpPointsAt) {
  GoFrame frame;
  frame.use = GoStackUse::kBorrows;
  frame.rbp_saved_elf_vaddr = kAt;
  frame.rbp_set_elf_vaddr = kAt + 3;
  frame.switches_elf_vaddr = {kAt + 20};
  EXPECT_EQ(GoRuleAt(frame, kAt, 8).cfa, Cfa::kRegister);
  for (uint64_t behind : {3u, 30u}) {
    UnwindRule rule = GoRuleAt(frame, kAt + behind, 8);
    EXPECT_EQ(rule.cfa, Cfa::kOtherStack);
    EXPECT_EQ(rule.cfa_register, kDwarfRbp);
    EXPECT_EQ(rule.cfa_offset, 16);
    EXPECT_EQ(rule.rbp_offset, -16);
  }
  EXPECT_EQ(GoRuleAt(frame, kAt + 40, 0).cfa, Cfa::kRegister);
}

TEST(GoFrame, EndsWhereNothingLeadsBack) {
  GoFrame frame;
  frame.use = GoStackUse::kLeaves;
  frame.switches_elf_vaddr = {kAt + 20};
  EXPECT_EQ(GoRuleAt(frame, kAt + 19, 8).return_address, Place::kCfa);
  EXPECT_EQ(GoRuleAt(frame, kAt + 20, 8).return_address, Place::kUndefined);
  // systemstack of Go 1.20, without a frame of its own: there, and back again.
  frame.use = GoStackUse::kBorrows;
  frame.switches_elf_vaddr = {kAt + 20, kAt + 40};
  EXPECT_EQ(GoRuleAt(frame, kAt + 20, 0).return_address, Place::kUndefined);
  EXPECT_EQ(GoRuleAt(frame, kAt + 40, 0).return_address, Place::kCfa);
  frame.use = GoStackUse::kUnknown;
  EXPECT_EQ(GoRuleAt(frame, kAt + 20, 8).cfa, Cfa::kNone);
}

}  // namespace
}  // namespace firetower::symbolizer
