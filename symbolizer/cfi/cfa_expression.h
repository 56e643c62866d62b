// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolizer/cfi/unwind_row.h"

namespace firetower::symbolizer {

// DWARF expressions are recognised and not executed: compilers, linkers and assembly use only a few
// shapes, and each shape is a kind of rule. Other shapes are kUnsupported.

// Reads DW_CFA_def_cfa_expression: sets the rule's CFA.
void RecogniseCfaExpression(std::span<const std::byte> expression, UnwindRule& rule);

// The result of DW_CFA_expression: the place where a register is saved.
struct SavedPlace {
  UnwindRule::Place place = UnwindRule::Place::kUnsupported;
  uint8_t base_register = 0;
  int32_t offset = 0;
};
SavedPlace RecogniseSavedExpression(std::span<const std::byte> expression);

// The registers that a sample has: RAX to R15. Their numbers are DWARF's.
inline constexpr uint64_t kLastGeneralRegister = 15;
// Tells whether a row can hold the offset.
inline constexpr bool FitsOffset(int64_t offset) {
  return offset >= INT32_MIN && offset <= INT32_MAX;
}

}  // namespace firetower::symbolizer
