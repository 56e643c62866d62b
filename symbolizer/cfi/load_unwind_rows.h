// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/unwind_row.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

// Passes the rows of an x86-64 file, or of a memory image of one (the vdso), to the sink:
//
//   sections ─► FDEs, 16 bytes each ─► sorted, overlaps resolved ─► programs run ─► merged ─► sink
//
// Reads .eh_frame, which it also finds without section headers. Code that .eh_frame does not
// describe gets rows from .gopclntab (symbolizer/go) in Go programs, and from .debug_frame. A
// broken FDE loses only its own rows and is counted by reason. Code behind an FDE counts as
// alignment and keeps the last row, unless the next FDE is more than 15 bytes away.
//
// A file without call frame information has no rows, which is not an error. Errors: another
// machine's file, sections or FDEs beyond the bounds, bytes that could not be read. After an error
// the rows that were already passed on are useless.
//
// Memory, all freed at the end: up to 8 MiB of each section (FrameBytes), 16 bytes per FDE, and in
// a Go program 12 MiB more.
Result<CfiStats> LoadUnwindRows(const ElfFile& file, UnwindRowSink& sink);

}  // namespace firetower::symbolizer
