// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace firetower::symbolizer {

// A function in source code, and the line of an address in it. The texts are valid until the next
// look-up in the table that they come from.
struct SourceFrame {
  static constexpr uint32_t kNoSymbol = UINT32_MAX;

  std::string_view name = {};   // mangled as in the file
  std::string_view file = {};   // empty: not known
  uint32_t line = 0;            // 0: not known
  uint32_t column = 0;          // 0: not known
  uint32_t start_line = 0;      // where the function begins; 0: not known
  uint32_t symbol = kNoSymbol;  // the range of its SymbolTable that has the name
};

// Source of frames beyond symbols, such as DWARF: one address may have several functions, because
// of inlined calls. A look-up may read the file, so it belongs to the thread that names frames.
class SourceFrames {
 public:
  virtual ~SourceFrames() = default;
  // Appends the frames at an address, innermost first; none when the source has none for it.
  virtual void Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const = 0;
  // Tells whether Find() can answer from memory. If not, it reads the file first, which takes
  // milliseconds.
  virtual bool IsReady(uint64_t) const { return true; }
  // Frees caches that made reading faster. Called after a number of look-ups.
  virtual void Forget() const {}
  // The size of this object and everything that it holds on the heap permanently.
  virtual size_t bytes() const = 0;
};

}  // namespace firetower::symbolizer
