// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/fde_sweep.h"

#include <algorithm>
#include <utility>

namespace firetower::symbolizer {

// FDEs come in the order of their rank, so a stable sort keeps the better one of two that begin
// together before the other. (std::sort falls back to sorting by heap on libLLVM's order.)
FdeSweep::FdeSweep(std::vector<FdeRange> fdes) : fdes_(std::move(fdes)) {
  auto before = [](const FdeRange& a, const FdeRange& b) {
    return a.begin_elf_vaddr < b.begin_elf_vaddr;
  };
  std::stable_sort(fdes_.begin(), fdes_.end(), before);
}

bool FdeSweep::Next(FdePiece& piece) {
  if (active_.empty() && next_ < fdes_.size()) {
    const FdeRange& fde = fdes_[next_];
    const bool alone =
        next_ + 1 == fdes_.size() || fdes_[next_ + 1].begin_elf_vaddr >= fde.end_elf_vaddr();
    if (alone && fde.begin_elf_vaddr >= elf_vaddr_) {
      ++next_;
      elf_vaddr_ = fde.end_elf_vaddr();
      piece = {fde.begin_elf_vaddr, elf_vaddr_, fde, true};
      return true;
    }
  }
  return NextOfOverlap(piece);
}

bool FdeSweep::NextOfOverlap(FdePiece& piece) {
  while (true) {
    while (!active_.empty() && active_.front().fde.end_elf_vaddr() <= elf_vaddr_) Pop();
    if (active_.empty()) {
      if (next_ == fdes_.size()) return false;
      elf_vaddr_ = std::max(elf_vaddr_, fdes_[next_].begin_elf_vaddr);
    }
    while (next_ < fdes_.size() && fdes_[next_].begin_elf_vaddr <= elf_vaddr_) {
      Push(fdes_[next_++]);
    }
    Active& best = active_.front();
    if (best.fde.end_elf_vaddr() <= elf_vaddr_) continue;
    if (best.pieces == kMaxPieces) {
      ++given_up_;
      Pop();
      continue;
    }
    piece.first = best.pieces++ == 0;
    piece.fde = best.fde;
    piece.begin_elf_vaddr = elf_vaddr_;
    elf_vaddr_ = piece.end_elf_vaddr = PieceEnd();
    return true;
  }
}

uint64_t FdeSweep::PieceEnd() {
  const FdeRange best = active_.front().fde;
  for (; next_ < fdes_.size(); ++next_) {
    const FdeRange& other = fdes_[next_];
    if (other.begin_elf_vaddr >= best.end_elf_vaddr()) break;
    if (other.rank < best.rank) return other.begin_elf_vaddr;
    // It waits for the range that the better one leaves.
    Push(other);
  }
  return best.end_elf_vaddr();
}

void FdeSweep::Push(const FdeRange& fde) {
  active_.push_back({fde});
  std::push_heap(active_.begin(), active_.end(), Later);
}

void FdeSweep::Pop() {
  std::pop_heap(active_.begin(), active_.end(), Later);
  active_.pop_back();
}

}  // namespace firetower::symbolizer
