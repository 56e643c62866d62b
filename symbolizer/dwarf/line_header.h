// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbolizer/dwarf/unit.h"

namespace firetower::symbolizer::dwarf {

// The header of a line number program (DWARF 5, 6.2.4).
struct LineHeader {
  UnitFormat format;
  uint8_t instruction_bytes = 1;
  int8_t line_base = 0;
  uint8_t line_range = 1;  // never 0
  uint8_t opcode_base = 10;
  std::array<uint8_t, 256> operands{};  // of each standard opcode
  std::vector<std::string> files;       // paths, by the number that the program uses
  std::vector<std::string> folders;
  size_t program_at = 0;  // in the bytes
  size_t path_bytes = 0;  // of all files and folders

  // Joins the names of folder and file. Beyond the bound a path is shortened or empty, because many
  // files may share one long folder.
  void AddFile(std::string_view file, uint64_t folder);
  void AddFolder(std::string_view folder, const std::string& comp_dir);

  static constexpr size_t kMaxFiles = 65534;
  static constexpr size_t kMaxPathBytes = 16u << 20;
};

// Reads a header. `bytes` are the whole program, `comp_dir` is the unit's folder. kCorrupt,
// kUnsupported.
Result<LineHeader> ReadLineHeader(std::span<const std::byte> bytes, std::string_view comp_dir,
                                  Units& units, const Unit& unit);

}  // namespace firetower::symbolizer::dwarf
