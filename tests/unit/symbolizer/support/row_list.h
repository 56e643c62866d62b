// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolizer/cfi/load_unwind_rows.h"

namespace firetower::symbolizer {

// Keeps the rows, and holds what the sink is promised: rising addresses, no equal neighbours.
class RowList : public UnwindRowSink {
 public:
  void OnRow(const UnwindRow& row) override {
    if (!rows.empty()) {
      EXPECT_GT(row.elf_vaddr, rows.back().elf_vaddr);
      EXPECT_NE(row.rule, rows.back().rule);
    }
    rows.push_back(row);
  }

  std::vector<UnwindRow> rows;
};

// The result of LoadUnwindRows for a file's bytes.
struct LoadedRows {
  Status status;
  CfiStats stats;
  std::vector<UnwindRow> rows;
};
inline LoadedRows LoadRows(std::string_view bytes) {
  LoadedRows result;
  MemorySource source(std::as_bytes(std::span(bytes)));
  RowList list;
  auto file = ElfFile::Open(source);
  auto stats = file ? LoadUnwindRows(*file, list) : Result<CfiStats>(file.error());
  if (!stats) {
    result.status = stats.error();
    return result;
  }
  result.stats = *stats;
  result.rows = std::move(list.rows);
  return result;
}

// The row that holds at an address; kNone before the first.
inline const UnwindRow& RowAt(const std::vector<UnwindRow>& rows, uint64_t elf_vaddr) {
  static const UnwindRow kBefore;
  auto after = std::upper_bound(
      rows.begin(), rows.end(), elf_vaddr,
      [](uint64_t wanted, const UnwindRow& row) { return wanted < row.elf_vaddr; });
  return after == rows.begin() ? kBefore : *(after - 1);
}

inline std::ostream& operator<<(std::ostream& out, const UnwindRule& rule) {
  return out << fmt::format(
             "{{cfa kind {} r{} r{} {:+} {:+}, ra kind {} r{}{:+}, rbp kind {} r{}{:+}, signal "
             "{}}}",
             static_cast<int>(rule.cfa), rule.cfa_register, rule.cfa_index_register,
             rule.cfa_offset, rule.cfa_addend, static_cast<int>(rule.return_address),
             rule.return_address_register, rule.return_address_offset, static_cast<int>(rule.rbp),
             rule.rbp_register, rule.rbp_offset, rule.signal_frame);
}
inline bool operator==(const UnwindRow& a, const UnwindRow& b) {
  return a.elf_vaddr == b.elf_vaddr && a.rule == b.rule;
}
inline std::ostream& operator<<(std::ostream& out, const UnwindRow& row) {
  return out << fmt::format("{:#x} ", row.elf_vaddr) << row.rule;
}

}  // namespace firetower::symbolizer
