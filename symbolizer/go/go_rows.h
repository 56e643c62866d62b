// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "symbolizer/cfi/cfi_stats.h"
#include "symbolizer/cfi/frame_bytes.h"
#include "symbolizer/cfi/row_writer.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/go/go_frame.h"
#include "symbolizer/go/go_values.h"
#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {

// A part of one Go function's code.
struct GoPiece {
  uint64_t begin_elf_vaddr = 0;
  uint64_t end_elf_vaddr = 0;
};

// The unwind rows of a Go program's functions, produced for one range of addresses after the other,
// in rising order. Each table is decoded once, even if FDEs cut its function into many parts.
class GoRows {
 public:
  // Opens the table of a file. kNotFound, kUnsupported: see Pclntab::Open. `file` must outlive the
  // result.
  static Result<std::unique_ptr<GoRows>> Create(const ElfFile& file, CfiStats& stats);

  uint64_t begin_elf_vaddr() const { return table_.begin_elf_vaddr(); }
  uint64_t end_elf_vaddr() const { return table_.end_elf_vaddr(); }

  // Finds the first part of one function's code in [begin, end). `begin` must never fall.
  bool Next(uint64_t begin_elf_vaddr, uint64_t end_elf_vaddr, GoPiece& piece);
  // Adds the rows of a piece that Next returned.
  void Run(const GoPiece& piece, RowWriter& rows);
  Status status() const;

  GoRows(Pclntab table, FrameBytes code, uint64_t code_elf_vaddr, CfiStats& stats);
  GoRows(const GoRows&) = delete;  // its cursors point into it
  GoRows& operator=(const GoRows&) = delete;

 private:
  struct Loaded {
    bool good = false;  // else the function's record is damaged
    GoFunction function;
    GoFrame frame;
    std::optional<GoValues> depths;
    bool has_depth = false;  // `depths` stands on a value
  };

  std::optional<Loaded> Load(uint32_t index);
  void LoadFrame(Loaded& loaded);
  bool Advance();
  // Returns the code from that address on.
  std::span<const std::byte> Code(uint64_t elf_vaddr, uint64_t length);
  void AddSegment(uint64_t begin_elf_vaddr, uint64_t end_elf_vaddr, int32_t depth,
                  RowWriter& rows) const;

  Pclntab table_;
  FrameBytes code_;
  uint64_t code_elf_vaddr_;
  CfiStats* stats_;
  uint32_t next_index_ = 0;
  uint64_t loaded_until_elf_vaddr_ = 0;  // where the last good function ends
  std::optional<Loaded> current_;
  std::optional<Loaded> following_;
};

}  // namespace firetower::symbolizer
