// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/symbol_reader.h"

#include <fmt/core.h>

#include <algorithm>

namespace firetower::symbolizer {

namespace {

// By STB_LOCAL, STB_GLOBAL and STB_WEAK; others have 0.
constexpr uint8_t kBindingRanks[16] = {1, 3, 2};

// Everything that names an address, as elfutils has it: not only STT_FUNC and STT_GNU_IFUNC, since
// hand-written assembly leaves its functions STT_NOTYPE and its tables inside the code STT_OBJECT.
bool NamesCode(const Elf64_Sym& symbol, uint64_t names_size, const AddressWindow& window) {
  constexpr uint32_t kNoCode = 1u << STT_SECTION | 1u << STT_FILE | 1u << STT_TLS;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || symbol.st_shndx == SHN_COMMON) {
    return false;
  }
  if ((kNoCode >> ELF64_ST_TYPE(symbol.st_info) & 1) != 0) return false;
  return window.Contains(symbol.st_value) && symbol.st_name != 0 && symbol.st_name < names_size;
}

// A label without a size reaches to the end of its section at most; 0 when it is in no section.
uint64_t LabelEnd(const ElfFile& file, const Elf64_Sym& symbol) {
  if (symbol.st_shndx >= file.sections().size()) return 0;
  const Elf64_Shdr& section = file.sections()[symbol.st_shndx];
  if (symbol.st_value < section.sh_addr || symbol.st_value - section.sh_addr >= section.sh_size) {
    return 0;
  }
  return section.sh_addr + section.sh_size;
}

RawSymbol MakeRaw(const Elf64_Sym& symbol, const SymbolSection& section, Tier tier,
                  const AddressWindow& window) {
  RawSymbol raw{};
  raw.start = window.Clamp(symbol.st_value);
  raw.sized = symbol.st_size != 0;
  uint64_t end = 0;
  if (!raw.sized) {
    end = LabelEnd(*section.file, symbol);
  } else if (__builtin_add_overflow(symbol.st_value, symbol.st_size, &end)) {
    end = UINT64_MAX;
  }
  raw.end = window.Clamp(end);
  raw.name = symbol.st_name;
  raw.string_table = section.string_table;
  raw.binding = kBindingRanks[ELF64_ST_BIND(symbol.st_info)];
  raw.tier = tier;
  return raw;
}

}  // namespace

Result<SymbolSection> FindSymbolSection(const ElfFile& file, uint32_t type) {
  for (const Elf64_Shdr& section : file.sections()) {
    if (section.sh_type != type) continue;
    if (section.sh_entsize != sizeof(Elf64_Sym) || section.sh_link >= file.sections().size()) {
      return Error(ErrorCode::kCorrupt, "ELF symbol table of an unknown shape");
    }
    const Elf64_Shdr& strings = file.sections()[section.sh_link];
    // objcopy --only-keep-debug leaves .dynsym as SHT_NOBITS, which is another type.
    if (!file.SectionInFile(section) || !file.SectionInFile(strings)) {
      return Error(ErrorCode::kCorrupt, "ELF symbol table lies beyond the file's end");
    }
    return SymbolSection{&file, &section, &strings, 0};
  }
  return Error(ErrorCode::kNotFound, "no such symbol table");
}

Status ReadSymbols(const SymbolSection& section, const AddressWindow& window, uint32_t max_symbols,
                   const NamedRanges* named, std::vector<RawSymbol>& out) {
  // sh_info is the index of the first global symbol (gABI, "Symbol Table").
  const uint64_t first_global = named == nullptr ? section.symbols->sh_info : 0;
  uint64_t number = 0;
  return ForEachSymbol(section, [&](const Elf64_Sym& symbol) -> Status {
    const bool local = number++ < first_global;
    if (!NamesCode(symbol, section.strings->sh_size, window)) return OkStatus();
    RawSymbol raw = MakeRaw(symbol, section, local ? Tier::kLocal : Tier::kGlobal, window);
    if (named != nullptr && (!raw.sized || named->Cover(raw.start, raw.end))) return OkStatus();
    if (out.size() >= max_symbols) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("more than {} symbols in one file", max_symbols));
    }
    raw.order = static_cast<uint32_t>(out.size() + 1);
    out.push_back(raw);
    return OkStatus();
  });
}

}  // namespace firetower::symbolizer
