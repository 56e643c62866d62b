// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/cie.h"
#include "symbolizer/cfi/fde_sweep.h"
#include "symbolizer/cfi/frame_bytes.h"
#include "symbolizer/cfi/frame_program.h"
#include "symbolizer/cfi/frame_section.h"

namespace firetower::symbolizer {

// The records of one section. Finds its FDEs, then runs them in any order. A record that cannot be
// read is counted and skipped. The section ends early only when the start of the next record cannot
// be found.
class FrameRecords {
 public:
  // A section with more FDEs is refused (kExhausted). The largest browsers have a million.
  static constexpr size_t kMaxFdes = 4u << 20;

  FrameRecords(const RandomAccess& source, const FrameSection& section, CfiStats& stats)
      : section_(section), bytes_(source, section.file_offset, section.size), stats_(&stats) {}

  // Adds the FDEs of the section to `fdes`.
  Status Scan(std::vector<FdeRange>& fdes);
  // Whether the piece's FDE is of this section.
  bool Owns(const FdePiece& piece) const { return (piece.fde.rank & kDebugFrameRank) == Rank(0); }
  Status Run(const FdePiece& piece, FrameProgram& program);

 private:
  // This bit is above every offset, so that .debug_frame ranks below .eh_frame, which programs use
  // at run time.
  static constexpr uint32_t kDebugFrameRank = 1u << 31;
  static_assert(kMaxFrameSectionBytes < kDebugFrameRank);

  enum class Kind : uint8_t { kCie, kFde, kZero, kShort, kBroken };
  struct Record {
    Kind kind = Kind::kBroken;
    uint64_t body = 0;  // offset behind the id
    uint64_t end = 0;   // offset of the next record
    uint64_t cie = 0;   // kFde: offset of its CIE
  };
  struct Fde {
    bool has_range = false;
    bool has_program = false;
    uint64_t begin_elf_vaddr = 0;
    uint64_t bytes = 0;
    FrameProgram::Instructions instructions;
  };
  struct CachedCie {
    uint64_t key = 0;  // offset + 1
    Cie cie;
  };

  uint32_t Rank(uint64_t offset) const {
    const bool debug = section_.format == FrameSection::Format::kDebugFrame;
    return static_cast<uint32_t>(offset) | (debug ? kDebugFrameRank : 0);
  }
  Record ReadRecord(uint64_t offset);
  CfiFault ScanFde(uint64_t offset, const Record& record, std::vector<FdeRange>& fdes);
  const Cie& FindCie(uint64_t offset);
  Cie ReadCie(uint64_t offset);
  // Reads the FDE from the first `length` bytes behind the record's id.
  Fde ReadFde(const Record& record, const Cie& cie, uint64_t length);

  FrameSection section_;
  FrameBytes bytes_;
  CfiStats* stats_;
  // Cache of CIEs. FDEs come after their CIE, and few CIEs are in use at a time. An evicted CIE is
  // read again.
  std::array<CachedCie, 64> cies_;
};

}  // namespace firetower::symbolizer
