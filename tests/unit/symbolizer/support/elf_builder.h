// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::symbolizer {

// Writes small ELF files byte by byte after the gABI: sections of code at given addresses, a symbol
// table with any symbols in any order, notes. Other readers (libelf) must accept them.
class ElfBuilder {
 public:
  struct TestSymbol {
    std::string name;
    uint64_t value = 0;
    uint64_t size = 0;
    unsigned char binding = STB_GLOBAL;
    unsigned char type = STT_FUNC;
    uint16_t section = 1;  // of the code sections, from 1
  };

  // Returns the section's index. Code sections must be added before anything else.
  uint16_t AddCode(uint64_t elf_vaddr, uint64_t size);
  // SHT_SYMTAB or SHT_DYNSYM; locals must come first, as the gABI wants it.
  void AddSymbols(uint32_t type, const std::vector<TestSymbol>& symbols);
  // A section with bytes, e.g. ".gnu_debugdata".
  void AddSection(std::string_view name, uint32_t type, const std::string& bytes);
  // One PT_LOAD over all code (and the headers), as most linkers write it.
  std::string Build() const;

  static constexpr uint64_t kCodeFileOffset = 0x1000;  // of the first code section

 private:
  struct Section {
    std::string name;
    Elf64_Shdr header{};
    std::string bytes;
  };
  std::vector<Section> sections_ = {{}};  // the null section
  size_t code_sections_ = 0;
};

// One note as in a PT_NOTE segment, padded to 4.
std::string MakeNote(std::string_view owner, uint32_t type, std::string_view description);

}  // namespace firetower::symbolizer
