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
#include "symbolizer/go/go_rows.h"

namespace firetower::symbolizer {

namespace {

// Opens a Go program's own table, which fills gaps between FDEs. Returns null for other programs.
Result<std::unique_ptr<GoRows>> FindGoRows(const ElfFile& file, CfiStats& stats) {
  auto rows = GoRows::Create(file, stats);
  if (rows) return rows;
  // A program without the table, or with one we cannot read, still has its FDEs.
  return std::unique_ptr<GoRows>();
}

// .debug_frame describes Go's functions too, without the ends of their stacks.
void LeaveToGo(const GoRows& go, size_t eh_frame_fdes, std::vector<FdeRange>& fdes) {
  auto of_go = [&](const FdeRange& fde) {
    return fde.begin_elf_vaddr >= go.begin_elf_vaddr() && fde.begin_elf_vaddr < go.end_elf_vaddr();
  };
  const auto debug_frame = fdes.begin() + static_cast<ptrdiff_t>(eh_frame_fdes);
  fdes.erase(std::remove_if(debug_frame, fdes.end(), of_go), fdes.end());
}

// Functions begin at multiples of 16.
constexpr uint64_t kMaxPaddingBytes = 15;

// Fills the gaps between FDEs with Go functions, padding and code without a rule.
class GapFiller {
 public:
  GapFiller(RowWriter& rows, GoRows* go) : rows_(&rows), go_(go) {}

  // Nothing else covers the code from the last covered address to this one.
  void FillUntil(uint64_t elf_vaddr) {
    GoPiece piece;
    while (go_ != nullptr && go_->Next(covered_.value_or(0), elf_vaddr, piece)) {
      Mark(piece.begin_elf_vaddr);
      go_->Run(piece, *rows_);
      covered_ = piece.end_elf_vaddr;
    }
    Mark(elf_vaddr);
  }
  void Covered(uint64_t elf_vaddr) { covered_ = elf_vaddr; }
  void Finish() {
    FillUntil(UINT64_MAX);
    if (covered_) rows_->Add(*covered_, UnwindRule{});
  }

 private:
  void Mark(uint64_t next_elf_vaddr) {
    if (covered_ && next_elf_vaddr > *covered_ && next_elf_vaddr - *covered_ > kMaxPaddingBytes) {
      rows_->Add(*covered_, UnwindRule{});
    }
  }

  RowWriter* rows_;
  GoRows* go_;
  std::optional<uint64_t> covered_;  // nothing before the first function
};

// FDEs of compilers have 24 bytes or more, so one allocation suffices. Unused memory is never
// touched.
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
  ASSIGN_OR_RETURN(const std::unique_ptr<GoRows> go, FindGoRows(file, stats));
  size_t eh_frame_fdes = 0;
  for (FrameRecords& section : records) {
    RETURN_IF_ERROR(section.Scan(fdes));
    if (&section == &records.front() && sections.eh_frame) eh_frame_fdes = fdes.size();
  }
  if (go) LeaveToGo(*go, eh_frame_fdes, fdes);

  RowWriter rows(sink, stats);
  FrameProgram program(rows, stats);
  FdeSweep sweep(std::move(fdes));
  FdePiece piece;
  GapFiller gaps(rows, go.get());
  while (sweep.Next(piece)) {
    gaps.FillUntil(piece.begin_elf_vaddr);
    for (FrameRecords& section : records) {
      if (section.Owns(piece)) RETURN_IF_ERROR(section.Run(piece, program));
    }
    gaps.Covered(piece.end_elf_vaddr);
  }
  gaps.Finish();
  if (go) RETURN_IF_ERROR(go->status());
  stats.faults[static_cast<size_t>(CfiFault::kOverlap)] = sweep.given_up();
  return stats;
}

}  // namespace firetower::symbolizer
