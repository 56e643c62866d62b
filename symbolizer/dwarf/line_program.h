// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbolizer/dwarf/sections.h"
#include "symbolizer/dwarf/unit.h"

namespace firetower::symbolizer::dwarf {

// One row of the line table: the code from `elf_vaddr` up to the next row belongs to this line.
struct LineRow {
  static constexpr uint16_t kNoFile = 0xffff;  // no code of the unit from here on

  uint64_t elf_vaddr = 0;
  uint32_t line = 0;
  uint16_t file = kNoFile;  // in LineTable::files
  uint16_t column = 0;      // 65535 where it is more
};

// The line table of a unit, made by running its line number program to the end.
struct LineTable {
  std::vector<std::string> files;  // paths, by the program's own numbers
  std::vector<LineRow> rows;       // by address; of equal ones the last is meant
};

// Runs the program at the unit's DW_AT_stmt_list (DWARF 2 to 5, chapter 6.2). Skips code at address
// 0, which the linker discarded. A damaged program yields the rows before the damage. Fails with
// kCorrupt when the header is wrong.
Result<LineTable> RunLineProgram(Units& units, const Unit& unit,
                                 std::span<const std::byte> unit_bytes, const DwarfLimits& limits);

}  // namespace firetower::symbolizer::dwarf
