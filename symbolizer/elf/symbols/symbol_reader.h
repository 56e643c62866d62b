// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/symbols/named_ranges.h"
#include "symbolizer/elf/symbols/raw_symbol.h"

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

// Calls `visit` with each symbol of the table, in its order. Reads some 48 KiB at a time.
// `visit` returns a Status; the first error ends it.
template <typename Visit>
Status ForEachSymbol(const SymbolSection& section, const Visit& visit) {
  constexpr uint64_t kChunkSymbols = 2048;
  const uint64_t count = section.symbols->sh_size / sizeof(Elf64_Sym);
  std::vector<Elf64_Sym> chunk;
  for (uint64_t first = 0; first < count; first += chunk.size()) {
    chunk.resize(std::min(kChunkSymbols, count - first));
    RETURN_IF_ERROR(
        section.file->source().ReadAt(section.symbols->sh_offset + first * sizeof(Elf64_Sym),
                                      std::as_writable_bytes(std::span(chunk))));
    for (const Elf64_Sym& symbol : chunk) RETURN_IF_ERROR(visit(symbol));
  }
  return OkStatus();
}

// Appends the symbols that can name code, in the table's order. If `named` is given, appends only
// symbols with a size that cover some address without a name, all of one tier. kExhausted: `out`
// would have more than `max_symbols`.
Status ReadSymbols(const SymbolSection& section, const AddressWindow& window, uint32_t max_symbols,
                   const NamedRanges* named, std::vector<RawSymbol>& out);

}  // namespace firetower::symbolizer
