// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/cie.h"
#include "symbolizer/cfi/row_writer.h"
#include "symbolizer/cfi/unwind_row.h"

namespace firetower::symbolizer {

struct CodeRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Runs call frame instructions (DWARF 5, 6.4.2 and 6.4.3; LSB Core for GNU's). Keeps only the CFA,
// RBP and the return address, so a state is one rule of 24 bytes. One object runs all programs of a
// file; a run allocates nothing.
class FrameProgram {
 public:
  FrameProgram(RowWriter& rows, CfiStats& stats) : rows_(&rows), stats_(&stats) {}

  struct Instructions {
    std::span<const std::byte> bytes;
    uint64_t elf_vaddr = 0;  // of the first byte
  };
  // Runs an FDE's program and writes the rows of `wanted`, a part of the function's code. After a
  // fault the rest of `wanted` becomes kNone; earlier rows stay.
  CfiFault Run(const Instructions& instructions, const Cie& cie, uint64_t function_elf_vaddr,
               const CodeRange& wanted);
  // Handles an FDE without a readable program: `wanted` becomes kNone.
  void Leave(const CodeRange& wanted) { rows_->Add(wanted.begin, UnwindRule{}); }
  // The address that the last Run reached, even if it failed.
  uint64_t location() const { return location_; }

  // Runs a CIE's program, which sets cie.initial.
  static CfiFault RunInitial(const Instructions& instructions, Cie& cie);

 private:
  // DWARF sets no limit. Compilers nest one level deep, assembly a few levels.
  static constexpr size_t kMaxStates = 16;

  FrameProgram() = default;
  void Start(const Instructions& instructions, const Cie& cie);
  void Step(uint8_t opcode);
  void StepExtended(uint8_t opcode);
  void StepCfa(uint8_t opcode);
  void StepRegister(uint8_t opcode);
  void MoveBy(uint64_t delta);
  void MoveTo(uint64_t elf_vaddr);
  void SetLocation();
  void RememberState();
  void RestoreState();
  void SetCfa(uint64_t number, int64_t offset);
  void SetCfaRegister(uint64_t number);
  void SetCfaOffset(int64_t offset);
  void SetPlace(uint64_t number, UnwindRule::Place place, int64_t offset = 0,
                uint64_t base_register = 0);
  void RestoreInitial(uint64_t number);
  int64_t Scaled(int64_t factored) const;
  void Emit(uint64_t begin, uint64_t end);

  RowWriter* rows_ = nullptr;  // null in a CIE, where there is no code
  CfiStats* stats_ = nullptr;
  ByteReader reader_{{}};
  uint64_t instructions_elf_vaddr_ = 0;
  const Cie* cie_ = nullptr;
  CodeRange wanted_;
  uint64_t location_ = 0;
  CfiFault fault_ = CfiFault::kNone;
  UnwindRule rule_;
  std::optional<int32_t> register_offset_;  // of the CFA before the last expression
  size_t states_ = 0;
  std::array<UnwindRule, kMaxStates> remembered_;
};

}  // namespace firetower::symbolizer
