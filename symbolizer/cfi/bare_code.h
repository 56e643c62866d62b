// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "symbolizer/cfi/unwind_row.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/signal_return.h"

namespace firetower::symbolizer {

// Where signal handlers return to: the kernel's frame, with all registers, is on the stack.
UnwindRule SignalReturnRule();

// A piece of code that call frame information mostly leaves out though it is the same in every
// file: the C start files' .init and .fini, with linkers that describe none (lld) the linkage
// tables, and in musl the function that signal handlers return to.
struct BareCode {
  uint64_t begin_elf_vaddr = 0;
  uint64_t end_elf_vaddr = 0;
  std::vector<UnwindRow> rows;  // the first at the begin; the last holds to the end
};

// Those that are sections, in rising order of address. Only what is known byte by byte is there: a
// section of another shape is left without rows. Reads some bytes of each such section.
std::vector<BareCode> FindBareCode(const ElfFile& file);

// Hands rows on and puts those of bare code where no FDE covers it. LoadUnwindRows's rows in, and
// its promises to a sink kept.
class BareCodeRows : public UnwindRowSink {
 public:
  BareCodeRows(const ElfFile& file, UnwindRowSink& sink)
      : sink_(&sink), code_(FindBareCode(file)), signal_returns_(file) {}

  void OnRow(const UnwindRow& row) override;
  // Call it behind the last row.
  void Finish();

 private:
  void Say(const UnwindRow& row);
  void FillUntil(uint64_t elf_vaddr);
  void AddSignalReturns(uint64_t end_elf_vaddr);

  UnwindRowSink* sink_;
  std::vector<BareCode> code_;
  SignalReturnSearch signal_returns_;
  size_t next_ = 0;
  UnwindRow last_;   // nothing covers what is before the first
  UnwindRule said_;  // of the sink's last row
};

}  // namespace firetower::symbolizer
