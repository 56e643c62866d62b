// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/table_packer.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using symbolizer::UnwindRule;

constexpr uint64_t kVaddr = 0x401000;
constexpr uint64_t kOffset = 0x1000;

Elf64_Phdr Segment(uint64_t vaddr = kVaddr, uint64_t offset = kOffset, uint64_t size = 0x10000) {
  Elf64_Phdr header{};
  header.p_type = PT_LOAD;
  header.p_flags = PF_R | PF_X;
  header.p_vaddr = vaddr;
  header.p_offset = offset;
  header.p_filesz = size;
  header.p_memsz = size;
  return header;
}

UnwindRule FromRsp(int32_t offset) {
  UnwindRule rule;
  rule.cfa = UnwindRule::Cfa::kRegister;
  rule.cfa_offset = offset;
  return rule;
}

UnwindRule SavedRbp(UnwindRule rule, int32_t offset) {
  rule.rbp = UnwindRule::Place::kCfa;
  rule.rbp_offset = offset;
  return rule;
}

PackedTable Pack(const std::vector<symbolizer::UnwindRow>& rows) {
  std::vector<Elf64_Phdr> headers{Segment()};
  TablePacker packer(headers);
  for (const auto& row : rows) packer.OnRow(row);
  return packer.Finish();
}

TEST(TablePacker, KeysRowsByFileOffset) {
  PackedTable table = Pack({{kVaddr + 0x20, FromRsp(8)}, {kVaddr + 0x900, {}}});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.first_block, kOffset >> FT_BLOCK_SHIFT);
  EXPECT_EQ(FT_ROW_OFFSET(table.rows[0]), 0x20u);
  EXPECT_EQ(FT_ROW_OFFSET(table.rows[1]), 0x900u & 1023);
  // Blocks 0 to 2; one more that says where the last ends.
  EXPECT_EQ(table.blocks, (std::vector<uint32_t>{0, 1, 1, 2}));
}

TEST(TablePacker, APrologueOfPushesIsOneRow) {
  // push r15 (2 bytes), push r14 (2), push r12 (2), push rbp (1), push rbx (1), sub rsp
  PackedTable table = Pack({{kVaddr, FromRsp(8)},
                            {kVaddr + 2, FromRsp(16)},
                            {kVaddr + 4, FromRsp(24)},
                            {kVaddr + 6, FromRsp(32)},
                            {kVaddr + 7, SavedRbp(FromRsp(40), -40)},
                            {kVaddr + 8, SavedRbp(FromRsp(48), -40)},
                            {kVaddr + 15, SavedRbp(FromRsp(112), -40)}});
  ASSERT_EQ(table.rows.size(), 2u);
  const ft_rule& run = table.rules[FT_ROW_RULE(table.rows[0])];
  EXPECT_EQ(run.cfa_offset, 8);
  EXPECT_EQ(run.steps, 1u << 1 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7);
  EXPECT_EQ(run.bp_from, 7);
  EXPECT_EQ(run.bp_offset, -40);
  EXPECT_EQ(run.flags, FT_RULE_BP_CFA);
}

TEST(TablePacker, AnEpilogueOfPopsIsOneRow) {
  PackedTable table =
      Pack({{kVaddr, FromRsp(24)}, {kVaddr + 1, FromRsp(16)}, {kVaddr + 3, FromRsp(8)}});
  ASSERT_EQ(table.rows.size(), 1u);
  const ft_rule& run = table.rules[0];
  EXPECT_EQ(run.cfa_offset, 24);
  EXPECT_EQ(run.steps, 1u << 0 | 1u << 2);
  EXPECT_EQ(run.flags, FT_RULE_POPS);
}

TEST(TablePacker, PushesAndPopsAreNotOneRun) {
  PackedTable table =
      Pack({{kVaddr, FromRsp(8)}, {kVaddr + 1, FromRsp(16)}, {kVaddr + 2, FromRsp(8)}});
  EXPECT_EQ(table.rows.size(), 2u);
}

TEST(TablePacker, NoRunPassesTheEndOfItsBlock) {
  uint64_t end = kVaddr + FT_BLOCK_BYTES;
  PackedTable table = Pack({{end - 2, FromRsp(8)}, {end - 1, FromRsp(16)}, {end, FromRsp(24)}});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(FT_ROW_OFFSET(table.rows[1]), 0u);
}

TEST(TablePacker, StepsBeyondSixteenBytesAreRowsOfTheirOwn) {
  PackedTable table = Pack({{kVaddr, FromRsp(8)}, {kVaddr + 17, FromRsp(16)}});
  EXPECT_EQ(table.rows.size(), 2u);
}

TEST(TablePacker, EqualRulesAreStoredOnce) {
  PackedTable table = Pack({{kVaddr, FromRsp(8)},
                            {kVaddr + 0x100, FromRsp(64)},
                            {kVaddr + 0x200, FromRsp(8)},
                            {kVaddr + 0x300, FromRsp(64)}});
  EXPECT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rules.size(), 2u);
}

TEST(TablePacker, RowsOutsideOfTheFilesCodeAreLeftOut) {
  PackedTable table = Pack({{kVaddr - 0x100, FromRsp(8)}, {kVaddr + 0x20000, FromRsp(8)}});
  EXPECT_TRUE(table.empty());
}

TEST(PackRule, UndefinedReturnAddressIsTheRoot) {
  UnwindRule rule = FromRsp(8);
  rule.return_address = UnwindRule::Place::kUndefined;
  EXPECT_EQ(PackRule(rule).cfa, FT_CFA_ROOT);
}

TEST(PackRule, AnotherStackIsReachedByRbpOnly) {
  UnwindRule rule;
  rule.cfa = UnwindRule::Cfa::kOtherStack;
  rule.cfa_register = symbolizer::kDwarfRbp;
  rule.cfa_offset = 16;
  EXPECT_EQ(PackRule(rule).cfa, FT_CFA_BP_OTHER);
  EXPECT_EQ(PackRule(rule).cfa_offset, 16);
  rule.cfa_register = symbolizer::kDwarfRsp;
  EXPECT_EQ(PackRule(rule).cfa, FT_CFA_NONE);
}

TEST(PackRule, SignalFramesReadEverythingFromTheContext) {
  // glibc's __restore_rt: CFA = *(rsp+160), rip at rsp+168, rbp at rsp+120.
  UnwindRule rule;
  rule.cfa = UnwindRule::Cfa::kDeref;
  rule.cfa_register = symbolizer::kDwarfRsp;
  rule.cfa_offset = 160;
  rule.return_address = UnwindRule::Place::kDeref;
  rule.return_address_register = symbolizer::kDwarfRsp;
  rule.return_address_offset = 168;
  rule.rbp = UnwindRule::Place::kDeref;
  rule.rbp_register = symbolizer::kDwarfRsp;
  rule.rbp_offset = 120;
  rule.signal_frame = true;
  ft_rule packed = PackRule(rule);
  EXPECT_EQ(packed.cfa, FT_CFA_SP_AT);
  EXPECT_EQ(packed.cfa_offset, 160);
  EXPECT_EQ(packed.extra, 168);
  EXPECT_EQ(packed.bp_offset, 120);
  EXPECT_EQ(packed.flags, FT_RULE_RA_SP | FT_RULE_BP_SP | FT_RULE_SIGNAL);
}

TEST(PackRule, WhatHasNoFormIsNoRule) {
  UnwindRule rule = FromRsp(8);
  rule.return_address = UnwindRule::Place::kUnsupported;
  EXPECT_EQ(PackRule(rule).cfa, FT_CFA_NONE);
  rule = FromRsp(8);
  rule.cfa = UnwindRule::Cfa::kUnsupported;
  EXPECT_EQ(PackRule(rule).cfa, FT_CFA_NONE);
  rule = FromRsp(8);
  rule.return_address_offset = -16;
  EXPECT_EQ(PackRule(rule).cfa, FT_CFA_NONE);
}

}  // namespace
}  // namespace firetower::daemon
