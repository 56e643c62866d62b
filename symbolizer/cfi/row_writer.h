// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/unwind_row.h"

namespace firetower::symbolizer {

// Merges equal neighbours and hands the others on.
class RowWriter {
 public:
  RowWriter(UnwindRowSink& sink, CfiStats& stats) : sink_(&sink), stats_(&stats) {}

  // `rule` holds from here on; addresses rise from call to call.
  void Add(uint64_t elf_vaddr, const UnwindRule& rule) {
    // The offset has mostly changed, and the rest need not be looked at.
    if (rule.cfa_offset == last_.rule.cfa_offset && rule == last_.rule) return;
    last_.elf_vaddr = elf_vaddr;
    // Not by assignment: the compiler would then load all fields before the comparison, together,
    // which waits for the store of the one that has just changed.
    std::memcpy(&last_.rule, &rule, sizeof(rule));
    ++stats_->rows;
    sink_->OnRow(last_);
  }

 private:
  UnwindRowSink* sink_;
  CfiStats* stats_;
  // Nothing covers what is before the first row, so a file needs no row to say that.
  UnwindRow last_;
};

}  // namespace firetower::symbolizer
