// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/unwind_row.h"

namespace firetower::symbolizer {

// Merges equal neighbours and hands the others on.
class RowWriter {
 public:
  RowWriter(UnwindRowSink& sink, CfiStats& stats) : sink_(&sink), stats_(&stats) {}

  // `rule` holds from here on; addresses rise from call to call.
  void Add(uint64_t elf_vaddr, const UnwindRule& rule) {
    if (rule == last_) return;
    last_ = rule;
    ++stats_->rows;
    sink_->OnRow({elf_vaddr, rule});
  }

 private:
  UnwindRowSink* sink_;
  CfiStats* stats_;
  // Nothing covers what is before the first row, so a file needs no row to say that.
  UnwindRule last_;
};

}  // namespace firetower::symbolizer
