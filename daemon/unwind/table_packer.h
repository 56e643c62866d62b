// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/container/flat_map.h"
#include "daemon/unwind/packed_table.h"
#include "symbolizer/cfi/unwind_row.h"

namespace firetower::daemon {

// Packs unwind rows as they come: addresses become file offsets, equal neighbours and series of
// pushes or pops become one row, and equal rules become one rule. Lossless: at each address the
// walk computes the same as the rows, or "no rule" for a rule that ft_rule cannot express.
//
// Rows must come in rising order. Rows of a segment that lies lower in the file than the one before
// are refused and counted. Memory: the table itself.
class TablePacker : public symbolizer::UnwindRowSink {
 public:
  // Code beyond this file offset has no table, because blocks are a flat index over file offsets.
  static constexpr uint64_t kMaxFileOffset = uint64_t{1} << 32;

  explicit TablePacker(std::span<const Elf64_Phdr> program_headers);

  void OnRow(const symbolizer::UnwindRow& row) override;
  PackedTable Finish();

  // The number of rows received, and of rules that ft_rule cannot express.
  uint64_t rows_in() const { return rows_in_; }
  uint64_t unsupported() const { return unsupported_; }

 private:
  struct Segment {
    uint64_t begin = 0;  // virtual addresses
    uint64_t end = 0;
    uint64_t bias = 0;  // address - bias = file offset
  };
  // The row that is still open, because the next row may be its next step.
  struct Group {
    uint64_t offset = 0;
    ft_rule rule{};  // as at `offset`
    ft_rule now{};   // as behind its last step, without steps
    bool changed_bp = false;
  };

  std::optional<uint64_t> OffsetOf(uint64_t elf_vaddr);
  bool Extend(uint64_t offset, const ft_rule& rule);
  void Open(uint64_t offset, const ft_rule& rule);
  void Close();
  uint32_t RuleId(const ft_rule& rule);

  std::vector<Segment> segments_;
  size_t segment_ = 0;
  std::optional<Group> group_;
  PackedTable table_;
  FlatMap<uint32_t> rule_ids_;
  uint64_t end_offset_ = 0;
  uint64_t rows_in_ = 0;
  uint64_t unsupported_ = 0;
};

// Converts `rule` into the walk's form; FT_CFA_NONE if it cannot be expressed.
ft_rule PackRule(const symbolizer::UnwindRule& rule);

}  // namespace firetower::daemon
