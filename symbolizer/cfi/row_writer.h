// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/unwind_row.h"

namespace firetower::symbolizer {

// Merges equal neighbours and passes the other rows on.
class RowWriter {
 public:
  RowWriter(UnwindRowSink& sink, CfiStats& stats) : sink_(&sink), stats_(&stats) {}

  // Adds a rule that holds from this address on. Addresses must rise from call to call.
  void Add(uint64_t elf_vaddr, const UnwindRule& rule) {
    // Mostly the offset has changed, and then the rest need not be compared.
    if (rule.cfa_offset == last_.rule.cfa_offset && rule == last_.rule) return;
    last_.elf_vaddr = elf_vaddr;
    // Not an assignment: the compiler would then load all fields together before the comparison,
    // and wait for the store of the field that has just changed.
    std::memcpy(&last_.rule, &rule, sizeof(rule));
    ++stats_->rows;
    sink_->OnRow(last_);
  }

 private:
  UnwindRowSink* sink_;
  CfiStats* stats_;
  // Code before the first row is not covered, so a file needs no row to say that.
  UnwindRow last_;
};

}  // namespace firetower::symbolizer
