// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/cfa_expression.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include "tests/unit/symbolizer/support/cfi_builder.h"
#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

using Cfa = UnwindRule::Cfa;
using Place = UnwindRule::Place;

CfiBytes Expression() { return {}; }

UnwindRule CfaOf(const CfiBytes& bytes) {
  // Values that an earlier instruction may have left.
  UnwindRule rule = {.cfa_register = 3, .cfa_index_register = 4, .cfa_offset = 5, .cfa_addend = 6};
  RecogniseCfaExpression(std::as_bytes(std::span(bytes.str())), rule);
  return rule;
}
SavedPlace SavedOf(const CfiBytes& bytes) {
  return RecogniseSavedExpression(std::as_bytes(std::span(bytes.str())));
}

UnwindRule Rule(Cfa cfa, uint8_t base, int32_t offset, int32_t addend = 0, uint8_t index = 0) {
  return {.cfa = cfa,
          .cfa_register = base,
          .cfa_index_register = index,
          .cfa_offset = offset,
          .cfa_addend = addend};
}

TEST(CfaExpression, KnowsARegisterAndAnOffset) {
  EXPECT_EQ(CfaOf(Expression().U8(DW_OP_breg0).Sleb(0)), Rule(Cfa::kRegister, 0, 0));
  EXPECT_EQ(CfaOf(Expression().U8(DW_OP_breg15).Sleb(-300)), Rule(Cfa::kRegister, 15, -300));
  EXPECT_EQ(CfaOf(Expression().U8(DW_OP_bregx).Uleb(7).Sleb(24)), Rule(Cfa::kRegister, 7, 24));
}

TEST(CfaExpression, AddsConstantsOfEachForm) {
  const auto rsp = [] { return Expression().U8(DW_OP_breg7).Sleb(100); };
  EXPECT_EQ(CfaOf(rsp().U8(DW_OP_plus_uconst).Uleb(200)).cfa_offset, 300);
  const std::pair<CfiBytes, int32_t> constants[] = {
      {CfiBytes().U8(DW_OP_lit0), 0},
      {CfiBytes().U8(DW_OP_lit31), 31},
      {CfiBytes().U8(DW_OP_const1u).U8(0xff), 255},
      {CfiBytes().U8(DW_OP_const1s).U8(0xff), -1},
      {CfiBytes().U8(DW_OP_const2u).U16(0xffff), 65535},
      {CfiBytes().U8(DW_OP_const2s).U16(0xffff), -1},
      {CfiBytes().U8(DW_OP_const4u).U32(0x10000), 65536},
      {CfiBytes().U8(DW_OP_const4s).U32(0xfffffffe), -2},
      {CfiBytes().U8(DW_OP_const8u).U64(70), 70},
      {CfiBytes().U8(DW_OP_const8s).U64(UINT64_MAX - 6), -7},
      {CfiBytes().U8(DW_OP_constu).Uleb(1000), 1000},
      {CfiBytes().U8(DW_OP_consts).Sleb(-1000), -1000},
  };
  for (const auto& [bytes, value] : constants) {
    SCOPED_TRACE(value);
    EXPECT_EQ(CfaOf(rsp().Raw(bytes.str()).U8(DW_OP_plus)), Rule(Cfa::kRegister, 7, 100 + value));
    EXPECT_EQ(CfaOf(rsp().Raw(bytes.str()).U8(DW_OP_minus)), Rule(Cfa::kRegister, 7, 100 - value));
    // The constant may stand below.
    EXPECT_EQ(CfaOf(CfiBytes(bytes).Raw(rsp().str()).U8(DW_OP_plus)),
              Rule(Cfa::kRegister, 7, 100 + value));
  }
}

TEST(CfaExpression, KnowsADereference) {
  // GCC's realigned stack; OpenSSL's copy of the caller's stack pointer.
  EXPECT_EQ(CfaOf(Expression().U8(DW_OP_breg6).Sleb(-8).U8(DW_OP_deref)), Rule(Cfa::kDeref, 6, -8));
  EXPECT_EQ(CfaOf(Expression().U8(DW_OP_breg7).Sleb(40).U8(DW_OP_deref).U8(0x23).Uleb(8)),
            Rule(Cfa::kDeref, 7, 40, 8));
  EXPECT_EQ(CfaOf(Expression()
                      .U8(DW_OP_breg7)
                      .Sleb(40)
                      .U8(DW_OP_lit8)
                      .U8(DW_OP_minus)
                      .U8(DW_OP_deref)
                      .U8(DW_OP_lit16)
                      .U8(DW_OP_minus)),
            Rule(Cfa::kDeref, 7, 32, -16));
}

TEST(CfaExpression, KnowsOpenSslsMontgomeryFrames) {
  // .cfi_cfa_expression %rsp+8,%r9,8,mul,plus,deref,+8
  auto expression = Expression().U8(DW_OP_breg7).Sleb(8).U8(DW_OP_breg9).Sleb(0);
  expression.U8(DW_OP_lit8).U8(DW_OP_mul).U8(DW_OP_plus).U8(DW_OP_deref);
  expression.U8(DW_OP_plus_uconst).Uleb(8);
  EXPECT_EQ(CfaOf(expression), Rule(Cfa::kIndexedDeref, 7, 8, 8, 9));
}

TEST(CfaExpression, KnowsTheLinkersPlt) {
  // GNU ld, elf_x86_64_eh_frame_lazy_plt and _lazy_ibt_plt; they differ in the literal.
  for (int32_t pushed_at : {11, 9}) {
    auto plt = Expression().U8(DW_OP_breg7).Sleb(8).U8(DW_OP_breg16).Sleb(0).U8(DW_OP_lit15);
    plt.U8(DW_OP_and).U8(static_cast<uint8_t>(DW_OP_lit0 + pushed_at)).U8(DW_OP_ge);
    plt.U8(DW_OP_lit3).U8(DW_OP_shl).U8(DW_OP_plus);
    EXPECT_EQ(CfaOf(plt), Rule(Cfa::kPlt, 7, 8, pushed_at));
  }
}

TEST(CfaExpression, RefusesOtherShapes) {
  const auto rsp = [] { return Expression().U8(DW_OP_breg7).Sleb(8); };
  const auto r9 = [] { return Expression().U8(DW_OP_breg9).Sleb(0); };
  const CfiBytes shapes[] = {
      Expression(),
      Expression().U8(DW_OP_lit8),                          // no register
      Expression().U8(DW_OP_breg16).Sleb(0),                // RIP
      Expression().U8(DW_OP_breg31).Sleb(0),                // none of x86-64's general ones
      Expression().U8(DW_OP_bregx).Uleb(1 << 20).Sleb(0),   //
      Expression().U8(DW_OP_breg7).Sleb(int64_t{1} << 31),  // does not fit a row
      Expression().U8(DW_OP_breg7).Sleb(INT64_MIN).U8(DW_OP_lit1).U8(DW_OP_minus),
      rsp().U8(DW_OP_deref).U8(DW_OP_deref),                 //
      rsp().Raw(r9().str()).U8(DW_OP_plus),                  // two registers
      rsp().U8(DW_OP_deref).Raw(r9().str()).U8(DW_OP_plus),  //
      rsp().U8(DW_OP_lit8).U8(DW_OP_mul),                    // an index alone
      r9().U8(DW_OP_lit8).U8(DW_OP_mul),                     //
      rsp().Raw(r9().str()).U8(DW_OP_lit4).U8(DW_OP_mul).U8(DW_OP_plus).U8(DW_OP_deref),
      rsp().Raw(r9().str()).U8(DW_OP_lit8).U8(DW_OP_mul).U8(DW_OP_minus).U8(DW_OP_deref),
      Expression().U8(DW_OP_lit8).Raw(rsp().str()).U8(DW_OP_minus),  // a register subtracted
      rsp().U8(DW_OP_plus),                                          // the stack underflows
      Expression().U8(DW_OP_deref),                                  //
      Expression().U8(DW_OP_mul),                                    //
      rsp().Raw(rsp().str()).Raw(rsp().str()).Raw(rsp().str()).Raw(rsp().str()),  // overflows
      rsp().U8(DW_OP_abs),                                                        // unknown
      rsp().U8(DW_OP_const4u).U16(1),                                             // cut
  };
  for (const CfiBytes& shape : shapes) {
    SCOPED_TRACE(&shape - shapes);
    EXPECT_EQ(CfaOf(shape), Rule(Cfa::kUnsupported, kDwarfRsp, 0));
  }
}

TEST(CfaExpression, RefusesPltsThatAreNone) {
  auto plt = [](uint8_t literal, uint8_t last) {
    auto bytes = Expression().U8(DW_OP_breg7).Sleb(8).U8(DW_OP_breg16).Sleb(0).U8(DW_OP_lit15);
    bytes.U8(DW_OP_and).U8(literal).U8(DW_OP_ge).U8(DW_OP_lit3).U8(DW_OP_shl).U8(last);
    return bytes;
  };
  EXPECT_EQ(CfaOf(plt(DW_OP_lit11, DW_OP_plus)).cfa, Cfa::kPlt);
  EXPECT_EQ(CfaOf(plt(DW_OP_lit16, DW_OP_plus)).cfa, Cfa::kUnsupported);
  EXPECT_EQ(CfaOf(plt(DW_OP_deref, DW_OP_plus)).cfa, Cfa::kUnsupported);
  EXPECT_EQ(CfaOf(plt(DW_OP_lit11, DW_OP_minus)).cfa, Cfa::kUnsupported);
}

TEST(CfaExpression, TakesASavedRegistersExpressionForItsAddress) {
  SavedPlace saved = SavedOf(Expression().U8(DW_OP_breg7).Sleb(168));
  EXPECT_EQ(saved.place, Place::kDeref);
  EXPECT_EQ(saved.base_register, 7);
  EXPECT_EQ(saved.offset, 168);
  // DWARF 5, 6.4.2.3: the CFA is pushed before.
  saved = SavedOf(Expression().U8(DW_OP_plus_uconst).Uleb(16));
  EXPECT_EQ(saved.place, Place::kCfa);
  EXPECT_EQ(saved.offset, 16);
  EXPECT_EQ(SavedOf(Expression().U8(DW_OP_breg7).Sleb(8).U8(DW_OP_deref)).place,
            Place::kUnsupported);
  EXPECT_EQ(SavedOf(Expression().U8(DW_OP_lit1)).place, Place::kUnsupported);
  EXPECT_EQ(SavedOf(Expression().U8(DW_OP_abs)).place, Place::kUnsupported);
}

}  // namespace
}  // namespace firetower::symbolizer
