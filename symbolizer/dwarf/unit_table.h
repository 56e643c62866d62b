// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbolizer/dwarf/sections.h"
#include "symbolizer/source_frames.h"

namespace firetower::symbolizer::dwarf {

class Units;

// What one compilation unit tells of its code, made for looking up: which scope, which line, who
// was inlined into whom. Immutable.
class UnitTable {
 public:
  // Runs through the unit once. What of it cannot be read is missing, in the worst case all.
  static std::shared_ptr<const UnitTable> Load(Units& units, size_t index,
                                               const DwarfLimits& limits);

  // Appends the frames at an address, innermost first. Where there are lines and no functions, as
  // in assembly, it is one frame without a name.
  void Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const;
  size_t bytes() const;

 private:
  friend class UnitTableBuilder;
  // Addresses are from base_ on. A text's length is kept: to count it would touch it.
  struct Text {
    uint32_t offset = 0;
    uint32_t bytes = 0;
  };
  struct Start {
    uint32_t begin;
    uint32_t scope;
  };
  struct Scope {
    uint32_t parent;
    uint32_t name;
    uint32_t start_line;
    uint32_t call_line;
    uint16_t name_bytes;
    uint16_t call_file;
    uint16_t call_column;
  };
  struct Row {
    uint32_t begin;
    uint32_t line;
    uint16_t file;
    uint16_t column;
  };
  std::string_view File(uint16_t file) const;

  uint64_t base_ = 0;
  std::vector<Start> starts_;
  std::vector<Scope> scopes_;
  std::vector<Row> rows_;
  std::vector<Text> files_;
  std::string texts_ = std::string(1, '\0');
};

}  // namespace firetower::symbolizer::dwarf
