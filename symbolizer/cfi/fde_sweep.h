// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace firetower::symbolizer {

// One FDE in 16 bytes: its range of addresses and its place in the file.
struct FdeRange {
  uint64_t begin_elf_vaddr = 0;
  uint32_t bytes = 0;
  uint32_t rank = 0;  // its record, in the order of the file: the lower one wins an address
  uint64_t end_elf_vaddr() const { return begin_elf_vaddr + bytes; }
};

// A range of addresses that one FDE describes.
struct FdePiece {
  uint64_t begin_elf_vaddr = 0;
  uint64_t end_elf_vaddr = 0;
  FdeRange fde;
  bool first = true;  // of this FDE's
};

// Walks FDEs in order of address; they may overlap. Memory: 16 bytes per FDE (24 while they are
// sorted), and 24 for each FDE that covers the current address. FDEs of real files do not overlap,
// or are exact duplicates.
class FdeSweep {
 public:
  // Only a hostile file cuts an FDE into more pieces. Each piece costs a run of the FDE's program.
  static constexpr uint32_t kMaxPieces = 16;

  // Expects the FDEs in rising order of rank, with ranges that do not wrap around.
  explicit FdeSweep(std::vector<FdeRange> fdes);

  bool Next(FdePiece& piece);
  // The number of FDEs that were dropped after kMaxPieces pieces.
  uint64_t given_up() const { return given_up_; }

 private:
  struct Active {
    FdeRange fde;
    uint32_t pieces = 0;
  };
  static bool Later(const Active& a, const Active& b) { return a.fde.rank > b.fde.rank; }
  bool NextOfOverlap(FdePiece& piece);
  void Push(const FdeRange& fde);
  void Pop();
  // Returns the end of the best FDE's current piece: the FDE's own end, or the start of a better
  // one.
  uint64_t PieceEnd();

  std::vector<FdeRange> fdes_;
  size_t next_ = 0;             // the first that is not yet in active_
  std::vector<Active> active_;  // a heap, the best first
  uint64_t elf_vaddr_ = 0;      // all before it is done
  uint64_t given_up_ = 0;
};

}  // namespace firetower::symbolizer
