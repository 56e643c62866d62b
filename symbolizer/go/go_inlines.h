// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/source_frames.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// The calls that Go's compiler inlined, with names but without files and lines. Stores only
// functions with such calls: 20 bytes for each function, 8 for each call, about 2 for each range of
// code that belongs to a call, and the names.
class GoInlines : public SourceFrames {
 public:
  struct Function {
    uint32_t begin = 0;  // from base_elf_vaddr
    uint32_t size_bytes = 0;
    uint32_t name = 0;
    uint32_t stretches = 0;   // where they are in `stretches`
    uint32_t first_call = 0;  // in `calls`
  };
  struct Call {
    uint32_t name = 0;
    uint32_t place = 0;  // the byte of the function where it would stand
  };
  struct Tables {
    uint64_t base_elf_vaddr = 0;
    std::vector<Function> functions;  // disjoint, by address
    std::vector<Call> calls;
    // For each function, two numbers per range of code: 0 or 1 + the index of a call among the
    // function's own, and the number of bytes of code.
    std::string stretches;
    std::string names;
  };
  // The limit for calls within calls. The compiler stops at some twenty.
  static constexpr size_t kMaxDepth = 64;

  explicit GoInlines(Tables tables) : tables_(std::move(tables)) {}

  void Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const override;
  size_t bytes() const override;

 private:
  // Returns the call that the byte belongs to, or null.
  const Call* CallAt(const Function& function, uint32_t behind) const;

  Tables tables_;
};

// A program that would need more gets no table. This limit is a third of the budget of all tables
// together.
inline constexpr size_t kMaxGoInlinesBytes = 12u << 20;

// Reads the inlined calls from .gopclntab. Takes the names of functions from `symbols`, else from
// the table. Returns null when the file is no Go program, when nothing is inlined, or when the
// table would be too large.
std::shared_ptr<const SourceFrames> LoadGoInlines(const ElfFile& file, const SymbolTable& symbols);

}  // namespace firetower::symbolizer
