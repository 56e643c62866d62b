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

// Finds the first section of `type` whose bytes and string table are all in the file. kNotFound:
// the file has none. kCorrupt: it lies beyond the file's end.
Result<SymbolSection> FindSymbolSection(const ElfFile& file, uint32_t type);

// Appends the symbols that can name code, in the table's order. If `named` is given, appends only
// symbols with a size that cover some address without a name, all of one tier. kExhausted: `out`
// would have more than `max_symbols`.
Status ReadSymbols(const SymbolSection& section, const AddressWindow& window, uint32_t max_symbols,
                   const NamedRanges* named, std::vector<RawSymbol>& out);

}  // namespace firetower::symbolizer
