// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/unwind_row.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

// Hands the sink the rows of an x86-64 file, or of a memory image of one (the vdso):
//
//   sections ─► FDEs, 16 bytes each ─► sorted, overlaps resolved ─► programs run ─► merged ─► sink
//
// from .eh_frame, which is found without section headers too, and where that leaves code open, from
// .gopclntab (symbolizer/go) in Go programs, and from .debug_frame. A broken FDE costs its own rows
// only and is counted by reason. Code behind an FDE is taken for alignment and keeps the last row,
// unless the next FDE is more than 15 bytes away.
//
// A file without call frame information gives no rows and is no error. Errors: another machine's
// file, sections or FDEs beyond the bounds, bytes that could not be read. Rows handed out before an
// error are of no use.
//
// Memory, all given back at the end: each section up to 8 MiB of it (FrameBytes), 16 bytes an FDE,
// in a Go program 12 MiB more.
Result<CfiStats> LoadUnwindRows(const ElfFile& file, UnwindRowSink& sink);

}  // namespace firetower::symbolizer
