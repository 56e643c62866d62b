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

// From `elf_vaddr` on, up to the next row, the code is of this line.
struct LineRow {
  static constexpr uint16_t kNoFile = 0xffff;  // no code of the unit from here on

  uint64_t elf_vaddr = 0;
  uint32_t line = 0;
  uint16_t file = kNoFile;  // in LineTable::files
  uint16_t column = 0;      // 65535 where it is more
};

// What a unit's line number program says, run to its end.
struct LineTable {
  std::vector<std::string> files;  // paths, by the program's own numbers
  std::vector<LineRow> rows;       // by address; of equal ones the last is meant
};

// Runs the program at the unit's DW_AT_stmt_list (DWARF 2 to 5, chapter 6.2). Stretches from
// address 0 on are left out: the linker threw their code away. A damaged program gives what came
// before the damage; kCorrupt is for one whose header is wrong.
Result<LineTable> RunLineProgram(Units& units, const Unit& unit,
                                 std::span<const std::byte> unit_bytes, const DwarfLimits& limits);

}  // namespace firetower::symbolizer::dwarf
