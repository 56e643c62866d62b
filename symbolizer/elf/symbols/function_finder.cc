// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/function_finder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "symbolizer/elf/symbols/symbol_reader.h"

namespace firetower::symbolizer {
namespace {

constexpr size_t kChunkBytes = 64u << 10;

// Index in `names` by offset in the string table.
using NameOffsets = std::unordered_map<uint64_t, size_t>;

// Linkers let a name begin in the middle of a longer one.
void TakeName(std::string_view text, uint64_t offset, std::span<const std::string_view> names,
              NameOffsets& found) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (text.ends_with(names[i])) found.emplace(offset + text.size() - names[i].size(), i);
  }
}

Result<NameOffsets> FindNames(const SymbolSection& section,
                              std::span<const std::string_view> names) {
  NameOffsets found;
  std::string text;  // from `begin` on, without a complete name
  uint64_t begin = 0;
  const uint64_t size = section.strings->sh_size;
  for (uint64_t at = 0; at < size;) {
    const size_t bytes = std::min<uint64_t>(kChunkBytes, size - at);
    const size_t kept = text.size();
    text.resize(kept + bytes);
    RETURN_IF_ERROR(section.file->source().ReadAt(
        section.strings->sh_offset + at, std::as_writable_bytes(std::span(text).subspan(kept))));
    at += bytes;
    size_t name = 0;
    for (size_t end = text.find('\0'); end != std::string::npos; end = text.find('\0', name)) {
      TakeName(std::string_view(text).substr(name, end - name), begin + name, names, found);
      name = end + 1;
    }
    // The end of an unfinished name is enough.
    name = std::max(name, text.size() - std::min(text.size(), kMaxFunctionName));
    begin += name;
    text.erase(0, name);
  }
  return found;
}

std::optional<uint64_t> FileOffset(const ElfFile& file, uint64_t elf_vaddr) {
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (elf_vaddr >= segment.p_vaddr && elf_vaddr - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (elf_vaddr - segment.p_vaddr);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<FoundSymbol>> FindSymbols(const ElfFile& file, uint32_t table,
                                             std::span<const std::string_view> names) {
  ASSIGN_OR_RETURN(const SymbolSection section, FindSymbolSection(file, table));
  ASSIGN_OR_RETURN(const NameOffsets wanted, FindNames(section, names));
  std::vector<FoundSymbol> symbols;
  if (wanted.empty()) return symbols;
  RETURN_IF_ERROR(ForEachSymbol(section, [&](const Elf64_Sym& symbol) -> Status {
    if (symbol.st_shndx == SHN_UNDEF) return OkStatus();
    const auto name = wanted.find(symbol.st_name);
    if (name != wanted.end())
      symbols.push_back({name->second, static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                         symbol.st_value, symbol.st_size});
    return OkStatus();
  }));
  return symbols;
}

Result<std::vector<FoundFunction>> FindFunctions(const ElfFile& file, uint32_t table,
                                                 std::span<const std::string_view> names) {
  ASSIGN_OR_RETURN(const std::vector<FoundSymbol> symbols, FindSymbols(file, table, names));
  std::vector<FoundFunction> functions;
  for (const FoundSymbol& symbol : symbols) {
    if (symbol.type != STT_FUNC) continue;
    if (const auto offset = FileOffset(file, symbol.value))
      functions.push_back({symbol.name, *offset});
  }
  return functions;
}

}  // namespace firetower::symbolizer
