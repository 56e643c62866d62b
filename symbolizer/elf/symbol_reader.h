// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/named_ranges.h"
#include "symbolizer/elf/raw_symbol.h"

namespace firetower::symbolizer {

struct SymbolSection {
  const ElfFile* file;
  const Elf64_Shdr* symbols;  // SHT_SYMTAB or SHT_DYNSYM
  const Elf64_Shdr* strings;
  uint8_t string_table;  // the number its symbols carry
};

// The first section of `type` whose bytes and string table are all in the file. kNotFound when
// the file has none, kCorrupt when it lies beyond the file's end.
Result<SymbolSection> FindSymbolSection(const ElfFile& file, uint32_t type);

// Appends the symbols that can name code, in the table's order; where `named` is there, only those
// with a size of which it does not name every address, all of one tier. kExhausted beyond
// `max_symbols` in `out`.
Status ReadSymbols(const SymbolSection& section, const AddressWindow& window, uint32_t max_symbols,
                   const NamedRanges* named, std::vector<RawSymbol>& out);

}  // namespace firetower::symbolizer
