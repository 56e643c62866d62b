// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/go_symbols.h"

#include <fmt/core.h>

#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {

Result<std::optional<Elf64_Shdr>> ReadGoSymbols(const ElfFile& file, const AddressWindow& window,
                                                uint8_t string_table, uint32_t max_symbols,
                                                std::vector<RawSymbol>& out) {
  auto table = Pclntab::Open(file);
  if (!table) return std::optional<Elf64_Shdr>();
  for (uint32_t index = 0; index < table->function_count(); ++index) {
    const std::optional<GoFunction> function = table->Function(index);
    if (!function || !window.Contains(function->begin_elf_vaddr)) continue;
    if (out.size() >= max_symbols) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("more than {} symbols in one file", max_symbols));
    }
    RawSymbol raw{};
    raw.start = window.Clamp(function->begin_elf_vaddr);
    raw.end = window.Clamp(function->end_elf_vaddr);
    raw.name = function->name;
    raw.string_table = string_table;
    // Ranks like a global symbol of .symtab, so that no symbol of .dynsym inside it replaces its
    // name.
    raw.binding = 3;
    raw.tier = Tier::kGlobal;
    raw.sized = true;
    out.push_back(raw);
    out.back().order = static_cast<uint32_t>(out.size());
  }
  RETURN_IF_ERROR(table->status());
  Elf64_Shdr names{};
  names.sh_offset = table->names_file_offset();
  names.sh_size = table->names_bytes();
  return std::optional(names);
}

}  // namespace firetower::symbolizer
