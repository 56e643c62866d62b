// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/load_unwind_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "symbolizer/cfi/fde_sweep.h"
#include "symbolizer/cfi/frame_program.h"
#include "symbolizer/cfi/frame_records.h"
#include "symbolizer/cfi/frame_section.h"
#include "symbolizer/cfi/row_writer.h"

namespace firetower::symbolizer {

namespace {

// Functions begin at multiples of 16.
constexpr uint64_t kMaxPaddingBytes = 15;

// Compilers' FDEs have 24 bytes or more, so that the vector is allocated once. What is not used is
// never touched.
size_t ExpectedFdes(const FrameSections& sections) {
  uint64_t bytes = 0;
  if (sections.eh_frame) bytes += sections.eh_frame->size;
  if (sections.debug_frame) bytes += sections.debug_frame->size;
  return static_cast<size_t>(std::min<uint64_t>(bytes / 24, FrameRecords::kMaxFdes));
}

}  // namespace

std::string_view CfiFaultName(CfiFault fault) {
  static constexpr std::string_view kNames[] = {"none",     "length",  "cie",       "augmentation",
                                                "encoding", "address", "truncated", "opcode",
                                                "state",    "overlap"};
  static_assert(std::size(kNames) == static_cast<size_t>(CfiFault::kCount));
  return kNames[static_cast<size_t>(fault)];
}

Result<CfiStats> LoadUnwindRows(const ElfFile& file, UnwindRowSink& sink) {
  if (file.machine() != EM_X86_64) {
    return Error(ErrorCode::kUnsupported, fmt::format("ELF of machine {}", file.machine()));
  }
  ASSIGN_OR_RETURN(const FrameSections sections, FindFrameSections(file));
  CfiStats stats;
  stats.compressed_debug_frame = sections.compressed_debug_frame;

  std::vector<FrameRecords> records;
  if (sections.eh_frame) records.emplace_back(file.source(), *sections.eh_frame, stats);
  if (sections.debug_frame) records.emplace_back(file.source(), *sections.debug_frame, stats);
  std::vector<FdeRange> fdes;
  fdes.reserve(ExpectedFdes(sections));
  for (FrameRecords& section : records) RETURN_IF_ERROR(section.Scan(fdes));

  RowWriter rows(sink, stats);
  FrameProgram program(rows, stats);
  FdeSweep sweep(std::move(fdes));
  FdePiece piece;
  uint64_t covered_elf_vaddr = UINT64_MAX;  // before the first FDE
  while (sweep.Next(piece)) {
    if (piece.begin_elf_vaddr > covered_elf_vaddr &&
        piece.begin_elf_vaddr - covered_elf_vaddr > kMaxPaddingBytes) {
      rows.Add(covered_elf_vaddr, UnwindRule{});
    }
    for (FrameRecords& section : records) {
      if (section.Owns(piece)) RETURN_IF_ERROR(section.Run(piece, program));
    }
    covered_elf_vaddr = piece.end_elf_vaddr;
  }
  rows.Add(covered_elf_vaddr, UnwindRule{});
  stats.faults[static_cast<size_t>(CfiFault::kOverlap)] = sweep.given_up();
  return stats;
}

}  // namespace firetower::symbolizer
