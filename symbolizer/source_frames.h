// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace firetower::symbolizer {

// A function as source code has it, and where in it an address is. Its texts stay until the next
// look at the table they come from.
struct SourceFrame {
  static constexpr uint32_t kNoSymbol = UINT32_MAX;

  std::string_view name = {};   // mangled as in the file
  std::string_view file = {};   // empty: not known
  uint32_t line = 0;            // 0: not known
  uint32_t column = 0;          // 0: not known
  uint32_t start_line = 0;      // where the function begins; 0: not known
  uint32_t symbol = kNoSymbol;  // the range of its SymbolTable that has the name
};

// What a file tells of its source beyond symbols: at one address several functions, where calls
// were inlined. May read while it looks, so it belongs to the thread that names frames.
class SourceFrames {
 public:
  virtual ~SourceFrames() = default;
  // Appends the frames at an address, innermost first; none where the file does not tell.
  virtual void Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const = 0;
  // Whether Find() has its answer at hand; else it reads the file first, for milliseconds.
  virtual bool IsReady(uint64_t) const { return true; }
  // Gives back what made reading faster, after some look-ups.
  virtual void Forget() const {}
  // Everything it holds on the heap for as long as it is there, and itself.
  virtual size_t bytes() const = 0;
};

}  // namespace firetower::symbolizer
