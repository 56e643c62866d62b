// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// The order in which symbols are chosen to name an address. The first four are those of elfutils
// (libdwfl/dwfl_module_addrsym.c): globals, then locals, then labels without a size.
enum class Tier : uint8_t {
  kGlobal,
  kExactLabel,  // a global label beats locals at its very first byte, only there
  kLocal,
  kLabel,
};

// One symbol of a symbol table while its file is loaded. Addresses are relative to the window.
struct RawSymbol {
  uint32_t start;
  uint32_t end;   // exclusive. Of a label: the end of its section
  uint32_t name;  // offset in its string table
  uint32_t order;
  uint8_t string_table;
  uint8_t binding;  // higher wins
  Tier tier;
  bool sized;
};

// The addresses a table can hold: 4 GiB from the first executable segment on.
class AddressWindow {
 public:
  explicit AddressWindow(const std::vector<LoadSegment>& segments) {
    for (const LoadSegment& segment : segments) {
      if (!segment.executable) continue;
      code_.push_back(segment);
      if (code_.size() == 1 || segment.elf_vaddr < base_) base_ = segment.elf_vaddr;
    }
    for (const LoadSegment& segment : code_) {
      if (segment.file_size_bytes <= main_bytes_ || segment.file_size_bytes >= UINT32_MAX ||
          segment.elf_vaddr - base_ >= UINT32_MAX - segment.file_size_bytes) {
        continue;
      }
      main_ = segment.elf_vaddr;
      main_bytes_ = segment.file_size_bytes;
    }
  }
  uint64_t base() const { return base_; }
  bool empty() const { return code_.empty(); }
  // Tells whether a function may start here: in the code, within 4 GiB of its start.
  bool Contains(uint64_t elf_vaddr) const {
    if (elf_vaddr - main_ < main_bytes_) return true;
    for (const LoadSegment& segment : code_) {
      if (elf_vaddr >= segment.elf_vaddr &&
          elf_vaddr - segment.elf_vaddr < segment.file_size_bytes) {
        return elf_vaddr - base_ < UINT32_MAX;
      }
    }
    return false;
  }
  // Returns the relative address, cut at the window's end.
  uint32_t Clamp(uint64_t elf_vaddr) const {
    uint64_t relative = elf_vaddr < base_ ? 0 : elf_vaddr - base_;
    return relative > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(relative);
  }

 private:
  std::vector<LoadSegment> code_;
  uint64_t base_ = 0;
  // The largest segment, which has nearly all code. It lies completely within the window.
  uint64_t main_ = 0;
  uint64_t main_bytes_ = 0;
};

}  // namespace firetower::symbolizer
