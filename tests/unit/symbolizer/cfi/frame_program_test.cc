// SPDX-License-Identifier: Apache-2.0
// The call frame instructions as DWARF 5, 6.4.2 and 6.4.3, and for GNU's the LSB Core, define them.
#include "symbolizer/cfi/frame_program.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include "tests/unit/symbolizer/support/cfi_builder.h"
#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

using Cfa = UnwindRule::Cfa;
using Place = UnwindRule::Place;

constexpr uint64_t kCode = 0x401000;
constexpr uint64_t kBytes = 0x100;
constexpr uint8_t kAdvance1 = DW_CFA_advance_loc | 1;

CfiBytes Program() { return {}; }

LoadedRows RunProgram(const CfiBytes& program, const TestCie& cie = {}) {
  FrameBuilder frames(FrameBuilder::Format::kEhFrame, FrameFile::kEhFrame);
  frames.AddCie(cie);
  frames.AddFde(kCode, kBytes, program);
  return LoadRows(FileWithEhFrame(frames));
}

// On entry to a function: the return address lies on top of the stack.
UnwindRule Entry() { return {.cfa = Cfa::kRegister, .cfa_offset = 8}; }
UnwindRule WithCfa(uint8_t number, int32_t offset) {
  UnwindRule rule = Entry();
  rule.cfa_register = number;
  rule.cfa_offset = offset;
  return rule;
}

// The rule that one instruction makes of the CIE's.
UnwindRule After(const CfiBytes& instruction, const TestCie& cie = {}) {
  LoadedRows loaded = RunProgram(instruction, cie);
  EXPECT_EQ(loaded.stats.bad_fdes(), 0u);
  return RowAt(loaded.rows, kCode).rule;
}

// The rows of a program are those, up to the function's end.
void ExpectRows(const CfiBytes& program, const std::vector<UnwindRow>& expected,
                const TestCie& cie = {}) {
  LoadedRows loaded = RunProgram(program, cie);
  ASSERT_TRUE(loaded.status) << loaded.status.error().message();
  EXPECT_EQ(loaded.stats.bad_fdes(), 0u);
  std::vector<UnwindRow> with_end = expected;
  with_end.push_back({kCode + kBytes, {}});
  EXPECT_EQ(loaded.rows, with_end);
}

void ExpectFault(const CfiBytes& program, CfiFault fault, const std::vector<UnwindRow>& expected) {
  LoadedRows loaded = RunProgram(program);
  ASSERT_TRUE(loaded.status);
  EXPECT_EQ(loaded.stats.bad_fdes(), 1u);
  EXPECT_EQ(loaded.stats.faults[static_cast<size_t>(fault)], 1u) << CfiFaultName(fault);
  EXPECT_EQ(loaded.rows, expected);
}

TEST(FrameProgram, BeginsWithTheRulesOfTheCie) { ExpectRows(Program(), {{kCode, Entry()}}); }

TEST(FrameProgram, AdvancesByEachForm) {
  auto program = Program().U8(DW_CFA_advance_loc | 5).U8(DW_CFA_def_cfa_offset).Uleb(16);
  program.U8(DW_CFA_advance_loc1).U8(0x20).U8(DW_CFA_def_cfa_offset).Uleb(24);
  program.U8(DW_CFA_advance_loc2).U16(0x30).U8(DW_CFA_def_cfa_offset).Uleb(32);
  program.U8(DW_CFA_advance_loc4).U32(0x40).U8(DW_CFA_def_cfa_offset).Uleb(40);
  ExpectRows(program, {{kCode, Entry()},
                       {kCode + 5, WithCfa(7, 16)},
                       {kCode + 0x25, WithCfa(7, 24)},
                       {kCode + 0x55, WithCfa(7, 32)},
                       {kCode + 0x95, WithCfa(7, 40)}});
}

TEST(FrameProgram, SetsTheLocationInTheEncodingOfItsAddresses) {
  TestCie absolute;
  absolute.augmentation_data = CfiBytes().U8(0x04);  // udata8
  absolute.augmentation = "zRS";                     // any but "zR", so that the address is plain
  auto program = Program().U8(DW_CFA_set_loc).U64(kCode + 9).U8(DW_CFA_def_cfa_offset).Uleb(16);
  UnwindRule first = Entry();
  UnwindRule second = WithCfa(7, 16);
  first.signal_frame = second.signal_frame = true;
  ExpectRows(program, {{kCode, first}, {kCode + 9, second}}, absolute);

  FrameBuilder frames(FrameBuilder::Format::kEhFrame, FrameFile::kEhFrame);
  frames.AddCie();
  // Behind the range and the length of no augmentation data comes the opcode, then the operand.
  const uint64_t operand = frames.next_body_elf_vaddr() + 4 + 4 + 1 + 1;
  frames.AddFde(
      kCode, kBytes,
      Program().U8(DW_CFA_set_loc).U32(kCode + 9 - operand).U8(DW_CFA_def_cfa_offset).Uleb(16));
  EXPECT_EQ(RowAt(LoadRows(FileWithEhFrame(frames)).rows, kCode + 8).rule, Entry());
  EXPECT_EQ(RowAt(LoadRows(FileWithEhFrame(frames)).rows, kCode + 9).rule, WithCfa(7, 16));
}

TEST(FrameProgram, ScalesAdvancesByTheCodeAlignment) {
  TestCie cie;
  cie.code_alignment = 4;
  auto program = Program().U8(DW_CFA_advance_loc | 3).U8(DW_CFA_def_cfa_offset).Uleb(16);
  program.U8(DW_CFA_advance_loc1).U8(2).U8(DW_CFA_def_cfa_offset).Uleb(24);
  program.U8(DW_CFA_advance_loc4).U32(2).U8(DW_CFA_def_cfa_offset).Uleb(32);
  ExpectRows(program,
             {{kCode, Entry()},
              {kCode + 12, WithCfa(7, 16)},
              {kCode + 20, WithCfa(7, 24)},
              {kCode + 28, WithCfa(7, 32)}},
             cie);
}

TEST(FrameProgram, DefinesTheCfa) {
  EXPECT_EQ(After(Program().U8(DW_CFA_def_cfa).Uleb(6).Uleb(16)), WithCfa(6, 16));
  EXPECT_EQ(After(Program().U8(DW_CFA_def_cfa_register).Uleb(10)), WithCfa(10, 8));
  EXPECT_EQ(After(Program().U8(DW_CFA_def_cfa_offset).Uleb(0x12345)), WithCfa(7, 0x12345));
  // Factored by the data alignment, -8.
  EXPECT_EQ(After(Program().U8(DW_CFA_def_cfa_sf).Uleb(6).Sleb(-4)), WithCfa(6, 32));
  EXPECT_EQ(After(Program().U8(DW_CFA_def_cfa_offset_sf).Sleb(-9)), WithCfa(7, 72));
  // A block: RBP - 40, dereferenced.
  const CfiBytes deref = CfiBytes().U8(DW_OP_breg6).Sleb(-40).U8(DW_OP_deref);
  UnwindRule realigned = WithCfa(6, -40);
  realigned.cfa = Cfa::kDeref;
  EXPECT_EQ(After(Program().U8(DW_CFA_def_cfa_expression).Block(deref)), realigned);
}

TEST(FrameProgram, ForgetsAnExpressionWithTheNextDefinition) {
  const CfiBytes indexed = CfiBytes()
                               .U8(DW_OP_breg7)
                               .Sleb(8)
                               .U8(DW_OP_breg9)
                               .Sleb(0)
                               .U8(DW_OP_lit8)
                               .U8(DW_OP_mul)
                               .U8(DW_OP_plus)
                               .U8(DW_OP_deref)
                               .U8(DW_OP_plus_uconst)
                               .Uleb(8);
  auto program = Program().U8(DW_CFA_def_cfa_expression).Block(indexed);
  EXPECT_EQ(After(program).cfa, Cfa::kIndexedDeref);
  EXPECT_EQ(After(program.U8(DW_CFA_def_cfa).Uleb(7).Uleb(8)), Entry());
}

struct RegisterCase {
  const char* name;
  CfiBytes (*operands)(uint8_t number);
  Place place;
  uint8_t base = 0;
  int32_t offset = 0;
};

const RegisterCase kRegisterCases[] = {
    {"offset", [](uint8_t n) { return CfiBytes().U8(DW_CFA_offset | n).Uleb(3); }, Place::kCfa, 0,
     -24},
    {"offset_extended",
     [](uint8_t n) { return CfiBytes().U8(DW_CFA_offset_extended).Uleb(n).Uleb(200); }, Place::kCfa,
     0, -1600},
    {"offset_extended_sf",
     [](uint8_t n) { return CfiBytes().U8(DW_CFA_offset_extended_sf).Uleb(n).Sleb(-5); },
     Place::kCfa, 0, 40},
    // Obsolete; the offset is subtracted.
    {"GNU_negative_offset_extended",
     [](uint8_t n) { return CfiBytes().U8(DW_CFA_GNU_negative_offset_extended).Uleb(n).Uleb(5); },
     Place::kCfa, 0, 40},
    {"undefined", [](uint8_t n) { return CfiBytes().U8(DW_CFA_undefined).Uleb(n); },
     Place::kUndefined},
    {"same_value", [](uint8_t n) { return CfiBytes().U8(DW_CFA_same_value).Uleb(n); },
     Place::kSame},
    {"register", [](uint8_t n) { return CfiBytes().U8(DW_CFA_register).Uleb(n).Uleb(5); },
     Place::kRegister, 5},
    {"register that no sample has",
     [](uint8_t n) { return CfiBytes().U8(DW_CFA_register).Uleb(n).Uleb(17); },
     Place::kUnsupported},
    // The expression is the address that the value is saved at.
    {"expression",
     [](uint8_t n) {
       return CfiBytes().U8(DW_CFA_expression).Uleb(n).Block(CfiBytes().U8(DW_OP_breg7).Sleb(120));
     },
     Place::kDeref, 7, 120},
    {"val_expression",
     [](uint8_t n) {
       return CfiBytes()
           .U8(DW_CFA_val_expression)
           .Uleb(n)
           .Block(CfiBytes().U8(DW_OP_breg7).Sleb(120));
     },
     Place::kUnsupported},
    {"val_offset", [](uint8_t n) { return CfiBytes().U8(DW_CFA_val_offset).Uleb(n).Uleb(2); },
     Place::kUnsupported},
    {"val_offset_sf",
     [](uint8_t n) { return CfiBytes().U8(DW_CFA_val_offset_sf).Uleb(n).Sleb(-2); },
     Place::kUnsupported},
};

TEST(FrameProgram, SavesRbp) {
  for (const RegisterCase& test : kRegisterCases) {
    SCOPED_TRACE(test.name);
    UnwindRule expected = Entry();
    expected.rbp = test.place;
    expected.rbp_register = test.base;
    expected.rbp_offset = test.offset;
    EXPECT_EQ(After(test.operands(kDwarfRbp)), expected);
    // And back to the CIE's rule.
    EXPECT_EQ(After(test.operands(kDwarfRbp).U8(DW_CFA_restore | kDwarfRbp)), Entry());
    EXPECT_EQ(After(test.operands(kDwarfRbp).U8(DW_CFA_restore_extended).Uleb(kDwarfRbp)), Entry());
  }
}

TEST(FrameProgram, SavesTheReturnAddress) {
  for (const RegisterCase& test : kRegisterCases) {
    SCOPED_TRACE(test.name);
    UnwindRule expected = Entry();
    expected.return_address = test.place;
    expected.return_address_register = test.base;
    expected.return_address_offset = test.offset;
    if (test.place == Place::kUnsupported) {
      // A row that leads nowhere says nothing else.
      expected.cfa = Cfa::kUnsupported;
      expected.cfa_offset = 0;
    }
    EXPECT_EQ(After(test.operands(kDwarfReturnAddress)), expected);
    EXPECT_EQ(After(test.operands(kDwarfReturnAddress).U8(DW_CFA_restore | 16)), Entry());
  }
}

TEST(FrameProgram, MakesNoRowForOtherRegisters) {
  auto program = Program();
  for (const RegisterCase& test : kRegisterCases) {
    program.Raw(test.operands(3).str()).U8(DW_CFA_restore | 3).U8(kAdvance1);
  }
  LoadedRows loaded = RunProgram(program);
  ExpectRows(program, {{kCode, Entry()}});
  EXPECT_EQ(loaded.stats.raw_rows, std::size(kRegisterCases) + 1);
  EXPECT_EQ(loaded.stats.rows, 2u);
}

TEST(FrameProgram, TakesTheReturnAddressFromTheColumnThatTheCieNames) {
  TestCie cie;
  cie.version = 3;
  cie.return_register = 200;
  cie.initial = CfiBytes().Raw("\x0c\x07\x08").U8(DW_CFA_offset_extended).Uleb(200).Uleb(1);
  ExpectRows(Program(), {{kCode, Entry()}}, cie);
}

TEST(FrameProgram, HasNoReturnAddressThatNobodySpeaksOf) {
  TestCie cie;
  cie.initial = CfiBytes().Raw(std::string_view("\x0c\x07\x08", 3));
  LoadedRows loaded = RunProgram(Program(), cie);
  EXPECT_EQ(RowAt(loaded.rows, kCode).rule.cfa, Cfa::kUnsupported);
  EXPECT_EQ(loaded.stats.unsupported_rows, 1u);
}

TEST(FrameProgram, RestoresWhatItRemembered) {
  auto program = Program().U8(kAdvance1).U8(DW_CFA_def_cfa_offset).Uleb(16);
  program.U8(DW_CFA_offset | kDwarfRbp).Uleb(2).U8(kAdvance1).U8(DW_CFA_remember_state);
  program.U8(DW_CFA_def_cfa).Uleb(6).Uleb(32).U8(DW_CFA_restore | kDwarfRbp);
  program.U8(kAdvance1).U8(DW_CFA_restore_state);
  UnwindRule pushed = WithCfa(7, 16);
  pushed.rbp = Place::kCfa;
  pushed.rbp_offset = -16;
  ExpectRows(
      program,
      {{kCode, Entry()}, {kCode + 1, pushed}, {kCode + 2, WithCfa(6, 32)}, {kCode + 3, pushed}});
}

TEST(FrameProgram, RestoresTheOffsetForANewRegister) {
  auto program = Program().U8(DW_CFA_def_cfa).Uleb(6).Uleb(16).U8(DW_CFA_remember_state);
  program.U8(DW_CFA_def_cfa).Uleb(7).Uleb(8).U8(DW_CFA_restore_state);
  EXPECT_EQ(After(program.U8(DW_CFA_def_cfa_register).Uleb(7)), WithCfa(7, 16));
}

TEST(FrameProgram, RemembersSixteenStates) {
  auto program = Program();
  for (uint64_t i = 0; i < 16; ++i) {
    program.U8(DW_CFA_remember_state).U8(DW_CFA_def_cfa_offset).Uleb(16 + 8 * i);
  }
  auto deeper = program;
  ExpectFault(deeper.U8(DW_CFA_remember_state), CfiFault::kState, {});
  std::vector<UnwindRow> expected;
  for (int i = 0; i < 16; ++i) {
    expected.push_back({kCode + expected.size(), WithCfa(7, 16 + 8 * (15 - i))});
    program.U8(kAdvance1).U8(DW_CFA_restore_state);
  }
  expected.push_back({kCode + 16, Entry()});
  ExpectRows(program, expected);
  ExpectFault(program.U8(kAdvance1).U8(DW_CFA_restore_state), CfiFault::kState, [&] {
    expected.push_back({kCode + 17, {}});
    return expected;
  }());
}

TEST(FrameProgram, PassesOverTheSizeOfArguments) {
  ExpectRows(Program().U8(kAdvance1).U8(DW_CFA_GNU_args_size).Uleb(300), {{kCode, Entry()}});
}

TEST(FrameProgram, KeepsTheRowsBeforeAFault) {
  auto program = Program().U8(kAdvance1).U8(DW_CFA_def_cfa_offset).Uleb(16).U8(kAdvance1);
  const std::vector<UnwindRow> rows = {
      {kCode, Entry()}, {kCode + 1, WithCfa(7, 16)}, {kCode + 2, {}}};
  for (int opcode : {0x17, 0x1c, 0x1d, 0x2d, 0x30, 0x3f}) {  // SPARC's, MIPS's, nobody's
    SCOPED_TRACE(opcode);
    auto bad = program;
    ExpectFault(bad.U8(static_cast<uint8_t>(opcode)).U8(1).U8(1), CfiFault::kOpcode, rows);
  }
  auto underflow = program;
  ExpectFault(underflow.U8(DW_CFA_restore_state), CfiFault::kState, rows);
  // Its length is longer than the record.
  auto block = program;
  ExpectFault(block.U8(DW_CFA_def_cfa_expression).Uleb(300), CfiFault::kTruncated, rows);
  // A number of more than 64 bits.
  auto number = program;
  ExpectFault(number.U8(DW_CFA_def_cfa_offset).Raw(std::string(11, '\x80')), CfiFault::kTruncated,
              rows);
}

TEST(FrameProgram, OffsetsNeedACfaOfARegister) {
  const CfiBytes deref = CfiBytes().U8(DW_OP_breg6).Sleb(-40).U8(DW_OP_deref);
  auto program = Program().U8(DW_CFA_def_cfa_expression).Block(deref);
  ExpectFault(program.U8(DW_CFA_def_cfa_offset).Uleb(8), CfiFault::kState, {});
  // A CIE that defines no CFA.
  TestCie cie;
  cie.initial = {};
  for (uint8_t opcode : {DW_CFA_def_cfa_offset, DW_CFA_def_cfa_register}) {
    LoadedRows loaded = RunProgram(Program().U8(opcode).Uleb(7), cie);
    EXPECT_EQ(loaded.stats.faults[static_cast<size_t>(CfiFault::kState)], 1u);
  }
}

// libgcrypt's assembly; gcc's unwinder and gdb agree that the offset is the one of before.
TEST(FrameProgram, ARegisterBehindAnExpressionHasTheOffsetOfBefore) {
  const CfiBytes deref = CfiBytes().U8(DW_OP_breg7).Sleb(536).U8(DW_OP_deref);
  auto program = Program().U8(DW_CFA_def_cfa_offset).Uleb(56).U8(DW_CFA_def_cfa_register).Uleb(0);
  program.U8(DW_CFA_def_cfa_expression).Block(deref);
  EXPECT_EQ(After(program).cfa, Cfa::kDeref);
  EXPECT_EQ(After(program.U8(DW_CFA_def_cfa_register).Uleb(7)), WithCfa(7, 56));
  EXPECT_EQ(After(program.U8(DW_CFA_def_cfa_offset).Uleb(48)), WithCfa(7, 48));
}

TEST(FrameProgram, DoesNotMoveBackwards) {
  FrameBuilder frames(FrameBuilder::Format::kEhFrame, FrameFile::kEhFrame);
  TestCie cie;
  cie.augmentation = "";  // plain addresses
  frames.AddCie(cie);
  frames.AddFde(kCode, kBytes, Program().U8(kAdvance1).U8(DW_CFA_set_loc).U64(kCode));
  // From the last addresses there are, an advance would wrap.
  frames.AddFde(UINT64_MAX - 0x100, 0x80, Program().U8(DW_CFA_advance_loc2).U16(0xffff));
  frames.AddFde(UINT64_MAX - 0x1000, 0x80, Program().U8(DW_CFA_advance_loc4).U32(0xffffffff));
  LoadedRows loaded = LoadRows(FileWithEhFrame(frames));
  EXPECT_EQ(loaded.stats.faults[static_cast<size_t>(CfiFault::kAddress)], 3u);
  EXPECT_EQ(loaded.rows, (std::vector<UnwindRow>{{kCode, Entry()}, {kCode + 1, {}}}));
}

TEST(FrameProgram, EndsWithItsFunction) {
  auto program = Program().U8(DW_CFA_advance_loc2).U16(kBytes).U8(DW_CFA_def_cfa_offset).Uleb(16);
  ExpectRows(program, {{kCode, Entry()}});
  // Bytes behind the end are ignored.
  ExpectRows(program.U8(0x3f), {{kCode, Entry()}});
}

TEST(FrameProgram, RefusesWhatARowCannotHold) {
  for (uint64_t offset : {uint64_t{1} << 31, uint64_t{1} << 61, UINT64_MAX - 7}) {
    LoadedRows loaded = RunProgram(Program().U8(DW_CFA_def_cfa_offset).Uleb(offset));
    EXPECT_EQ(RowAt(loaded.rows, kCode).rule.cfa, Cfa::kUnsupported);
    UnwindRule rule = After(Program().U8(DW_CFA_offset | kDwarfRbp).Uleb(offset));
    EXPECT_EQ(rule.rbp, Place::kUnsupported);
    EXPECT_EQ(rule.rbp_offset, 0);
  }
  EXPECT_EQ(After(Program().U8(DW_CFA_def_cfa_offset).Uleb(0x7fffffff)), WithCfa(7, 0x7fffffff));
  LoadedRows loaded = RunProgram(Program().U8(DW_CFA_def_cfa_register).Uleb(16));
  EXPECT_EQ(RowAt(loaded.rows, kCode).rule.cfa, Cfa::kUnsupported);
}

// Every prefix of a program with all kinds of operands, by itself a whole FDE: rows up to where it
// is cut, and never one that the whole program does not have.
TEST(FrameProgram, SurvivesTruncation) {
  auto program = Program().U8(kAdvance1).U8(DW_CFA_def_cfa_offset).Uleb(1000);
  for (const RegisterCase& test : kRegisterCases) {
    program.Raw(test.operands(kDwarfRbp).str()).U8(DW_CFA_advance_loc2).U16(2);
  }
  const LoadedRows whole = RunProgram(program);
  for (size_t length = 0; length < program.size(); ++length) {
    FrameBuilder frames(FrameBuilder::Format::kEhFrame, FrameFile::kEhFrame);
    frames.AddCie();
    CfiBytes body;
    body.U32(kCode - frames.next_body_elf_vaddr()).U32(kBytes).U8(0);
    body.Raw(program.str().substr(0, length));
    // Without the padding of nops.
    std::string bytes = frames.str();
    bytes += CfiBytes().U32(4 + body.size()).U32(bytes.size() + 4).Raw(body.str()).str();
    FrameFile file;
    file.AddSection(".eh_frame", FrameFile::kEhFrame, bytes);
    const LoadedRows cut = LoadRows(file.Build());
    ASSERT_TRUE(cut.status);
    ASSERT_EQ(cut.stats.fdes, 1u);
    for (size_t i = 0; i + 1 < cut.rows.size(); ++i) {
      if (i + 2 == cut.rows.size() && cut.stats.bad_fdes() == 0) break;  // may still change
      ASSERT_EQ(cut.rows[i], whole.rows[i]) << length;
    }
  }
}

}  // namespace
}  // namespace firetower::symbolizer
