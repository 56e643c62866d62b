// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/frame_program.h"

#include <algorithm>

#include "symbolizer/cfi/cfa_expression.h"
#include "symbolizer/cfi/encoded_pointer.h"

namespace firetower::symbolizer {

namespace {

using Cfa = UnwindRule::Cfa;
using Place = UnwindRule::Place;

// DW_CFA_*, DWARF 5, 7.24. The first three have their operand in the low six bits.
enum Instruction : uint8_t {
  kAdvanceLoc = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kPrimaryMask = 0xc0,
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
};

// One rule for all that cannot be followed, so that they merge.
constexpr UnwindRule kUnsupportedRule = {
    .cfa = Cfa::kUnsupported, .return_address = Place::kUnsupported, .return_address_offset = 0};

// A number beyond 63 bits is not an offset of a frame; it becomes the largest one, which is
// refused.
int64_t Clamped(uint64_t number) {
  return static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX));
}

}  // namespace

// Handles the instructions of every push and pop directly, with its state in local variables,
// because a large library has two million of them.
CfiFault FrameProgram::Run(const Instructions& instructions, const Cie& cie,
                           uint64_t function_elf_vaddr, const CodeRange& wanted) {
  Start(instructions, cie);
  wanted_ = wanted;
  ByteReader reader = reader_;
  uint64_t location = function_elf_vaddr;
  while (reader.remaining() > 0 && fault_ == CfiFault::kNone && location < wanted.end) {
    const uint8_t opcode = reader.U8();
    const uint8_t operand = opcode & static_cast<uint8_t>(~kPrimaryMask);
    uint64_t delta = 0;
    switch ((opcode & kPrimaryMask) != 0 ? opcode & kPrimaryMask : opcode) {
      case kAdvanceLoc:
        delta = operand;
        break;
      case kAdvanceLoc1:
        delta = reader.Fixed<uint8_t>();
        break;
      case kAdvanceLoc2:
        delta = reader.Fixed<uint16_t>();
        break;
      case kNop:
        continue;
      case kDefCfaOffset:
        SetCfaOffset(Clamped(reader.Uleb()));
        continue;
      case kOffset:
        SetPlace(operand, Place::kCfa, Scaled(Clamped(reader.Uleb())));
        continue;
      default:
        reader_ = reader;
        location_ = location;
        Step(opcode);
        reader = reader_;
        location = location_;
        continue;
    }
    const uint64_t next = location + delta * cie.code_alignment;
    if (next < location) fault_ = CfiFault::kAddress;
    if (next <= location || reader.failed()) continue;
    Emit(location, std::min(next, wanted.end));
    location = next;
  }
  location_ = location;
  if (reader.failed()) fault_ = CfiFault::kTruncated;
  if (location >= wanted.end) return CfiFault::kNone;
  if (fault_ != CfiFault::kNone) {
    rows_->Add(std::max(location, wanted.begin), UnwindRule{});
  } else {
    Emit(location, wanted.end);
  }
  return fault_;
}

CfiFault FrameProgram::RunInitial(const Instructions& instructions, Cie& cie) {
  FrameProgram program;
  program.Start(instructions, cie);
  while (program.reader_.remaining() > 0 && program.fault_ == CfiFault::kNone) {
    program.Step(program.reader_.U8());
  }
  if (program.reader_.failed()) return CfiFault::kTruncated;
  cie.initial = program.rule_;
  return program.fault_;
}

void FrameProgram::Start(const Instructions& instructions, const Cie& cie) {
  reader_ = ByteReader(instructions.bytes);
  instructions_elf_vaddr_ = instructions.elf_vaddr;
  cie_ = &cie;
  rule_ = cie.initial;
  fault_ = CfiFault::kNone;
  states_ = 0;
  register_offset_.reset();
}

void FrameProgram::Step(uint8_t opcode) {
  const uint8_t operand = opcode & static_cast<uint8_t>(~kPrimaryMask);
  switch (opcode & kPrimaryMask) {
    case kAdvanceLoc:
      return MoveBy(operand);
    case kOffset:
      return SetPlace(operand, Place::kCfa, Scaled(Clamped(reader_.Uleb())));
    case kRestore:
      return RestoreInitial(operand);
    default:
      return StepExtended(opcode);
  }
}

void FrameProgram::StepExtended(uint8_t opcode) {
  switch (opcode) {
    case kNop:
      return;
    case kSetLoc:
      return SetLocation();
    case kAdvanceLoc1:
      return MoveBy(reader_.Fixed<uint8_t>());
    case kAdvanceLoc2:
      return MoveBy(reader_.Fixed<uint16_t>());
    case kAdvanceLoc4:
      return MoveBy(reader_.Fixed<uint32_t>());
    case kRememberState:
      return RememberState();
    case kRestoreState:
      return RestoreState();
    case kDefCfa:
    case kDefCfaSf:
    case kDefCfaRegister:
    case kDefCfaOffset:
    case kDefCfaOffsetSf:
    case kDefCfaExpression:
      return StepCfa(opcode);
    case kGnuArgsSize:
      // The bytes of arguments pushed; only exception landing needs them.
      reader_.Uleb();
      return;
    default:
      return StepRegister(opcode);
  }
}

void FrameProgram::StepCfa(uint8_t opcode) {
  switch (opcode) {
    case kDefCfa: {
      const uint64_t number = reader_.Uleb();
      return SetCfa(number, Clamped(reader_.Uleb()));
    }
    case kDefCfaSf: {
      const uint64_t number = reader_.Uleb();
      return SetCfa(number, Scaled(reader_.Sleb()));
    }
    case kDefCfaRegister:
      return SetCfaRegister(reader_.Uleb());
    case kDefCfaOffset:
      return SetCfaOffset(Clamped(reader_.Uleb()));
    case kDefCfaOffsetSf:
      return SetCfaOffset(Scaled(reader_.Sleb()));
    default:
      if (rule_.cfa == Cfa::kRegister) register_offset_ = rule_.cfa_offset;
      return RecogniseCfaExpression(reader_.Bytes(reader_.Uleb()), rule_);
  }
}

void FrameProgram::StepRegister(uint8_t opcode) {
  if (opcode > kValExpression && opcode != kGnuNegativeOffsetExtended) {
    fault_ = CfiFault::kOpcode;
    return;
  }
  const uint64_t number = reader_.Uleb();
  switch (opcode) {
    case kOffsetExtended:
      return SetPlace(number, Place::kCfa, Scaled(Clamped(reader_.Uleb())));
    case kOffsetExtendedSf:
      return SetPlace(number, Place::kCfa, Scaled(reader_.Sleb()));
    case kGnuNegativeOffsetExtended:
      return SetPlace(number, Place::kCfa, Scaled(-Clamped(reader_.Uleb())));
    case kRestoreExtended:
      return RestoreInitial(number);
    case kUndefined:
      return SetPlace(number, Place::kUndefined);
    case kSameValue:
      return SetPlace(number, Place::kSame);
    case kRegister:
      return SetPlace(number, Place::kRegister, 0, reader_.Uleb());
    case kExpression: {
      const SavedPlace saved = RecogniseSavedExpression(reader_.Bytes(reader_.Uleb()));
      return SetPlace(number, saved.place, saved.offset, saved.base_register);
    }
    case kValExpression:
      reader_.Bytes(reader_.Uleb());
      return SetPlace(number, Place::kUnsupported);
    case kValOffset:
    case kValOffsetSf:
      reader_.Uleb();  // as long as an SLEB128
      return SetPlace(number, Place::kUnsupported);
    default:
      fault_ = CfiFault::kOpcode;
  }
}

void FrameProgram::MoveBy(uint64_t delta) {
  // At most 2^32 by 255: only the sum can wrap, to a place before.
  MoveTo(location_ + delta * cie_->code_alignment);
}

void FrameProgram::MoveTo(uint64_t elf_vaddr) {
  if (rows_ == nullptr) {
    fault_ = CfiFault::kOpcode;  // a CIE has no locations
  } else if (elf_vaddr < location_) {
    fault_ = CfiFault::kAddress;
  } else if (elf_vaddr > location_ && !reader_.failed()) {
    Emit(location_, std::min(elf_vaddr, wanted_.end));
    location_ = elf_vaddr;
  }
}

void FrameProgram::SetLocation() {
  const uint64_t elf_vaddr = ReadEncodedPointer(reader_, cie_->pointer_encoding,
                                                {.reader_elf_vaddr = instructions_elf_vaddr_});
  if (!reader_.failed()) MoveTo(elf_vaddr);
}

void FrameProgram::RememberState() {
  if (states_ == kMaxStates) {
    fault_ = CfiFault::kState;
    return;
  }
  remembered_[states_++] = rule_;
}

void FrameProgram::RestoreState() {
  if (states_ == 0) {
    fault_ = CfiFault::kState;
    return;
  }
  rule_ = remembered_[--states_];
}

void FrameProgram::SetCfa(uint64_t number, int64_t offset) {
  rule_.cfa = Cfa::kRegister;
  rule_.cfa_index_register = 0;
  rule_.cfa_addend = 0;
  SetCfaRegister(number);
  SetCfaOffset(offset);
}

// DWARF 5, 6.4.2.2, wants a CFA of a register and an offset here. Behind an expression, assembly
// (libgcrypt's) means the offset of before, as the C++ runtime and gdb take it.
void FrameProgram::SetCfaRegister(uint64_t number) {
  if (rule_.cfa != Cfa::kRegister) {
    if (!register_offset_) {
      fault_ = CfiFault::kState;
      return;
    }
    rule_.cfa_index_register = 0;
    rule_.cfa_offset = *register_offset_;
    rule_.cfa_addend = 0;
  }
  const bool general = number <= kLastGeneralRegister;
  rule_.cfa = general ? Cfa::kRegister : Cfa::kUnsupported;
  rule_.cfa_register = general ? static_cast<uint8_t>(number) : kDwarfRsp;
}

void FrameProgram::SetCfaOffset(int64_t offset) {
  if (rule_.cfa != Cfa::kRegister) {
    fault_ = CfiFault::kState;
  } else if (!FitsOffset(offset)) {
    rule_.cfa = Cfa::kUnsupported;
  } else {
    rule_.cfa_offset = static_cast<int32_t>(offset);
  }
}

void FrameProgram::SetPlace(uint64_t number, Place place, int64_t offset, uint64_t base_register) {
  if (number != kDwarfRbp && number != cie_->return_address_register) return;
  if (!FitsOffset(offset) || base_register > kLastGeneralRegister) {
    place = Place::kUnsupported;
    offset = 0;
    base_register = 0;
  }
  if (number == kDwarfRbp) {
    rule_.rbp = place;
    rule_.rbp_offset = static_cast<int32_t>(offset);
    rule_.rbp_register = static_cast<uint8_t>(base_register);
  } else {
    rule_.return_address = place;
    rule_.return_address_offset = static_cast<int32_t>(offset);
    rule_.return_address_register = static_cast<uint8_t>(base_register);
  }
}

void FrameProgram::RestoreInitial(uint64_t number) {
  const UnwindRule& initial = cie_->initial;
  if (number == kDwarfRbp) {
    rule_.rbp = initial.rbp;
    rule_.rbp_offset = initial.rbp_offset;
    rule_.rbp_register = initial.rbp_register;
  } else if (number == cie_->return_address_register) {
    rule_.return_address = initial.return_address;
    rule_.return_address_offset = initial.return_address_offset;
    rule_.return_address_register = initial.return_address_register;
  }
}

// Offsets are factored by the CIE's data alignment.
int64_t FrameProgram::Scaled(int64_t factored) const {
  int64_t offset = 0;
  return __builtin_mul_overflow(factored, cie_->data_alignment, &offset) ? INT64_MAX : offset;
}

// The rule holds from `begin` to `end`, as far as that is wanted.
void FrameProgram::Emit(uint64_t begin, uint64_t end) {
  begin = std::max(begin, wanted_.begin);
  if (begin >= end) return;
  ++stats_->raw_rows;
  if (rule_.cfa != Cfa::kUnsupported && rule_.return_address != Place::kUnsupported) {
    rows_->Add(begin, rule_);
    return;
  }
  ++stats_->unsupported_rows;
  rows_->Add(begin, kUnsupportedRule);
}

}  // namespace firetower::symbolizer
