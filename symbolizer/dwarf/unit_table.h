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

// The scopes, lines and inlined calls of one compilation unit, in a form made for look-ups.
// Immutable.
class UnitTable {
 public:
  // Reads the whole unit once. Skips what it cannot read, in the worst case everything.
  static std::shared_ptr<const UnitTable> Load(Units& units, size_t index,
                                               const DwarfLimits& limits);

  // Appends the frames at an address, innermost first. Code with lines but no functions, such as
  // assembly, gives one frame without a name.
  void Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const;
  size_t bytes() const;

 private:
  friend class UnitTableBuilder;
  // Addresses count from base_. A text's length is stored, because counting it would read the text.
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
