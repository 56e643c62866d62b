// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "symbolizer/cfi/unwind_row.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/signal_return.h"

namespace firetower::symbolizer {

// Returns the rule of the code that signal handlers return to: the kernel's frame, with all
// registers, is on the stack.
UnwindRule SignalReturnRule();

// A piece of code that call frame information mostly omits, though it is the same in every file:
// .init and .fini of the C start files, the linkage tables of linkers that describe none (lld), and
// musl's function that signal handlers return to.
struct BareCode {
  uint64_t begin_elf_vaddr = 0;
  uint64_t end_elf_vaddr = 0;
  std::vector<UnwindRow> rows;  // the first at the begin; the last holds to the end
};

// Returns the pieces that are sections, in rising order of address. Includes only code that is
// known byte by byte: a section of another shape gets no rows. Reads a few bytes of each such
// section.
std::vector<BareCode> FindBareCode(const ElfFile& file);

// Sink that passes rows on and inserts rows for bare code that no FDE covers. Takes the rows of
// LoadUnwindRows and keeps that function's promises to the next sink.
class BareCodeRows : public UnwindRowSink {
 public:
  BareCodeRows(const ElfFile& file, UnwindRowSink& sink)
      : sink_(&sink), code_(FindBareCode(file)), signal_returns_(file) {}

  void OnRow(const UnwindRow& row) override;
  // Must be called after the last row.
  void Finish();

 private:
  void Say(const UnwindRow& row);
  void FillUntil(uint64_t elf_vaddr);
  void AddSignalReturns(uint64_t end_elf_vaddr);

  UnwindRowSink* sink_;
  std::vector<BareCode> code_;
  SignalReturnSearch signal_returns_;
  size_t next_ = 0;
  UnwindRow last_;   // the row before the next one; at first a row that covers nothing
  UnwindRule said_;  // the rule of the row that was passed on last
};

}  // namespace firetower::symbolizer
