// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

// The longest name that FindFunctions finds.
inline constexpr size_t kMaxFunctionName = 96;

struct FoundSymbol {
  size_t name = 0;     // index in `names`
  uint8_t type = 0;    // STT_FUNC, STT_OBJECT, …
  uint64_t value = 0;  // address in the object's own address space
  uint64_t size = 0;   // bytes; 0 if it does not say
};

struct FoundFunction {
  size_t name = 0;           // index in `names`
  uint64_t file_offset = 0;  // of its first instruction
};

// Finds the symbols that the file defines under one of `names`, each of 1 to kMaxFunctionName
// bytes, in the table of that type (SHT_DYNSYM or SHT_SYMTAB). Reads both the names and the symbols
// once, in order, so that files of millions of symbols are no matter. kNotFound: the file has no
// such table. kCorrupt: the table is not what it says.
Result<std::vector<FoundSymbol>> FindSymbols(const ElfFile& file, uint32_t table,
                                             std::span<const std::string_view> names);

// The same for the functions among them.
Result<std::vector<FoundFunction>> FindFunctions(const ElfFile& file, uint32_t table,
                                                 std::span<const std::string_view> names);

}  // namespace firetower::symbolizer
