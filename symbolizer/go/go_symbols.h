// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/symbols/raw_symbol.h"

namespace firetower::symbolizer {

// Appends the functions of .gopclntab, with Go's own spelling: main.(*T).Method, main.Map[...].
// Their names are in the string table with the number `string_table`, which is returned as a
// section. Returns nothing if the file is no Go program or damaged. kExhausted: `out` would have
// more than `max_symbols`.
Result<std::optional<Elf64_Shdr>> ReadGoSymbols(const ElfFile& file, const AddressWindow& window,
                                                uint8_t string_table, uint32_t max_symbols,
                                                std::vector<RawSymbol>& out);

}  // namespace firetower::symbolizer
