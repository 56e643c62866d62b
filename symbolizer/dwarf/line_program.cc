// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/line_program.h"

#include <algorithm>

#include "symbolizer/dwarf/constants.h"
#include "symbolizer/dwarf/line_header.h"

namespace firetower::symbolizer::dwarf {

namespace {

// The state machine of DWARF 5, 6.2.2, as far as a profiler needs it.
class Machine {
 public:
  Machine(LineHeader header, uint32_t max_rows) : header_(std::move(header)), max_rows_(max_rows) {}

  void Run(ByteReader reader) {
    while (reader.remaining() > 0 && !reader.failed() && rows_.size() < max_rows_) {
      const uint8_t opcode = reader.U8();
      if (opcode >= header_.opcode_base) {
        Special(static_cast<uint8_t>(opcode - header_.opcode_base));
      } else if (opcode == kLineExtended) {
        Extended(reader);
      } else {
        Standard(opcode, reader);
      }
    }
    EndSequence();  // of a program that was cut
  }

  LineTable Take() && {
    // Sequences come in any order, often already sorted; they do not overlap in one unit.
    auto before = [](const LineRow& a, const LineRow& b) { return a.elf_vaddr < b.elf_vaddr; };
    if (!std::is_sorted(rows_.begin(), rows_.end(), before)) {
      std::stable_sort(rows_.begin(), rows_.end(), [&](const LineRow& a, const LineRow& b) {
        if (a.elf_vaddr != b.elf_vaddr) return a.elf_vaddr < b.elf_vaddr;
        // At the same address, the end of one sequence sorts before the start of the next.
        return a.file == LineRow::kNoFile && b.file != LineRow::kNoFile;
      });
    }
    return {std::move(header_.files), std::move(rows_)};
  }

 private:
  void Special(uint8_t adjusted) {
    Advance(adjusted / header_.line_range);
    line_ += static_cast<uint32_t>(header_.line_base + adjusted % header_.line_range);
    AddRow();
  }

  void Advance(uint64_t operations) { address_ += operations * header_.instruction_bytes; }

  void Standard(uint8_t opcode, ByteReader& reader) {
    switch (opcode) {
      case kLineCopy:
        AddRow();
        return;
      case kLineAdvancePc:
        Advance(reader.Uleb());
        return;
      case kLineAdvanceLine:
        line_ += static_cast<uint32_t>(reader.Sleb());
        return;
      case kLineSetFile:
        file_ = reader.Uleb();
        return;
      case kLineSetColumn:
        column_ = reader.Uleb();
        return;
      case kLineConstAddPc:
        Advance((255u - header_.opcode_base) / header_.line_range);
        return;
      case kLineFixedAdvancePc:
        address_ += reader.Fixed<uint16_t>();
        return;
      default:  // what has no effect here, and what nobody knows
        for (unsigned i = 0; i < header_.operands[opcode]; ++i) reader.Uleb();
        return;
    }
  }

  void Extended(ByteReader& reader) {
    const uint64_t length = reader.Uleb();
    ByteReader body(reader.Bytes(length));
    if (length == 0 || reader.failed()) return;
    switch (body.U8()) {
      case kLineEndSequence:
        EndSequence();
        return;
      case kLineSetAddress:
        address_ = ReadSized(body, static_cast<unsigned>(std::min<uint64_t>(length - 1, 8)));
        return;
      case kLineDefineFile:
        DefineFile(body);
        return;
      default:
        return;
    }
  }

  void DefineFile(ByteReader& body) {
    const std::span<const std::byte> rest = body.Rest();
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
    const size_t end = text.find('\0');
    if (end == std::string_view::npos || header_.files.size() >= LineHeader::kMaxFiles) return;
    body.Bytes(end + 1);
    header_.AddFile(text.substr(0, end), body.Uleb());
  }

  void AddRow() {
    LineRow row{address_, line_, LineRow::kNoFile, 0};
    row.file = static_cast<uint16_t>(std::min<uint64_t>(file_, LineRow::kNoFile - 1));
    row.column = static_cast<uint16_t>(std::min<uint64_t>(column_, UINT16_MAX));
    if (rows_.size() > sequence_) {
      LineRow& last = rows_.back();
      if (row.line == last.line && row.file == last.file && row.column == last.column) return;
      // The last of several rows for one address counts.
      if (row.elf_vaddr == last.elf_vaddr) {
        last = row;
        return;
      }
      // A sequence that goes back is not one.
      if (row.elf_vaddr < last.elf_vaddr) return;
    }
    rows_.push_back(row);
  }

  void EndSequence() {
    if (rows_.size() > sequence_) {
      if (rows_[sequence_].elf_vaddr == 0 || address_ <= rows_[sequence_].elf_vaddr) {
        rows_.resize(sequence_);
      } else {
        while (rows_.back().elf_vaddr >= address_) rows_.pop_back();
        rows_.push_back({address_, 0, LineRow::kNoFile, 0});
      }
    }
    sequence_ = rows_.size();
    address_ = 0;
    file_ = 1;
    line_ = 1;
    column_ = 0;
  }

  LineHeader header_;
  uint32_t max_rows_;
  std::vector<LineRow> rows_;
  size_t sequence_ = 0;  // its first row
  uint64_t address_ = 0;
  uint64_t file_ = 1;
  uint32_t line_ = 1;
  uint64_t column_ = 0;
};

}  // namespace

Result<LineTable> RunLineProgram(Units& units, const Unit& unit,
                                 std::span<const std::byte> unit_bytes, const DwarfLimits& limits) {
  if (!unit.root.stmt_list.has()) return Error(ErrorCode::kNotFound, "no line table");
  const std::string comp_dir(units.Text(unit, unit.root.comp_dir, unit_bytes));
  Section& section = units.sections().line;
  const uint64_t offset = unit.root.stmt_list.number;
  ByteReader head(section.Peek(offset, 12));
  uint64_t length = head.Fixed<uint32_t>();
  if (length == UINT32_MAX) length = head.Fixed<uint64_t>();
  if (head.failed() || length > limits.max_unit_bytes) {
    return Error(ErrorCode::kCorrupt, "no line table where a unit says that it is");
  }
  std::vector<std::byte> buffer;
  ASSIGN_OR_RETURN(std::span<const std::byte> bytes,
                   section.Read(offset, head.position() + length, buffer));
  ASSIGN_OR_RETURN(LineHeader header, ReadLineHeader(bytes, comp_dir, units, unit));
  ByteReader program(bytes);
  program.Bytes(header.program_at);
  Machine machine(std::move(header), limits.max_rows);
  machine.Run(program);
  return std::move(machine).Take();
}

}  // namespace firetower::symbolizer::dwarf
