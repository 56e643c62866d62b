// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/symbolizer/support/elf_builder.h"

#include <cstring>

namespace firetower::symbolizer {

namespace {

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

uint16_t ElfBuilder::AddCode(uint64_t elf_vaddr, uint64_t size) {
  Section section;
  section.name = ".text" + std::to_string(sections_.size());
  section.header.sh_type = SHT_PROGBITS;
  section.header.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  section.header.sh_addr = elf_vaddr;
  section.header.sh_size = size;
  section.header.sh_addralign = 1;
  sections_.push_back(section);
  ++code_sections_;
  return static_cast<uint16_t>(sections_.size() - 1);
}

void ElfBuilder::AddSymbols(uint32_t type, const std::vector<TestSymbol>& symbols) {
  Section table;
  Section strings;
  table.name = type == SHT_SYMTAB ? ".symtab" : ".dynsym";
  strings.name = type == SHT_SYMTAB ? ".strtab" : ".dynstr";
  table.bytes = BytesOf(Elf64_Sym{});
  strings.bytes = std::string(1, '\0');
  uint32_t first_global = 1;
  for (const TestSymbol& symbol : symbols) {
    Elf64_Sym raw{};
    // Linkers share strings: a name that already exists, even as the end of another one, is not
    // added.
    const std::string name = symbol.name + '\0';
    const size_t known = strings.bytes.find(name);
    if (known == std::string::npos) strings.bytes += name;
    raw.st_name = static_cast<uint32_t>(
        known == std::string::npos ? strings.bytes.size() - name.size() : known);
    raw.st_info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, symbol.type));
    raw.st_shndx = symbol.section;
    raw.st_value = symbol.value;
    raw.st_size = symbol.size;
    table.bytes += BytesOf(raw);
    if (symbol.binding == STB_LOCAL) ++first_global;
  }
  table.header.sh_type = type;
  table.header.sh_entsize = sizeof(Elf64_Sym);
  table.header.sh_info = first_global;
  table.header.sh_link = static_cast<uint32_t>(sections_.size() + 1);
  table.header.sh_addralign = 8;
  strings.header.sh_type = SHT_STRTAB;
  sections_.push_back(table);
  sections_.push_back(strings);
}

void ElfBuilder::AddSection(std::string_view name, uint32_t type, const std::string& bytes) {
  Section section;
  section.name = name;
  section.header.sh_type = type;
  section.header.sh_addralign = 4;
  section.bytes = bytes;
  sections_.push_back(section);
}

std::string ElfBuilder::Build() const {
  std::vector<Section> sections = sections_;
  Section names;
  names.name = ".shstrtab";
  names.header.sh_type = SHT_STRTAB;
  names.bytes = std::string(1, '\0');
  sections.push_back(names);
  for (Section& section : sections) {
    if (section.name.empty()) continue;
    section.header.sh_name = static_cast<uint32_t>(sections.back().bytes.size());
    sections.back().bytes += section.name + '\0';
  }

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_phoff = sizeof(header);
  header.e_phnum = code_sections_ > 0 ? 1 : 0;
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);

  Elf64_Phdr load{};
  std::string body(kCodeFileOffset, '\0');
  for (size_t i = 1; i < sections.size(); ++i) {
    Elf64_Shdr& section = sections[i].header;
    if (i <= code_sections_) {
      if (i == 1) {
        load = {PT_LOAD, PF_R | PF_X, kCodeFileOffset, section.sh_addr, section.sh_addr,
                0,       0,           0x1000};
      }
      section.sh_offset = kCodeFileOffset + section.sh_addr - load.p_vaddr;
      load.p_filesz = load.p_memsz = section.sh_addr + section.sh_size - load.p_vaddr;
      body.resize(section.sh_offset + section.sh_size, '\x90');
      continue;
    }
    body.resize((body.size() + 7) / 8 * 8);
    section.sh_offset = body.size();
    section.sh_size = sections[i].bytes.size();
    body += sections[i].bytes;
  }
  body.resize((body.size() + 7) / 8 * 8);
  header.e_shoff = body.size();
  for (const Section& section : sections) body += BytesOf(section.header);
  std::memcpy(body.data(), &header, sizeof(header));
  std::memcpy(body.data() + sizeof(header), &load, sizeof(load));
  return body;
}

std::string MakeNote(std::string_view owner, uint32_t type, std::string_view description) {
  Elf64_Nhdr header{static_cast<uint32_t>(owner.size() + 1),
                    static_cast<uint32_t>(description.size()), type};
  std::string note = BytesOf(header) + std::string(owner) + '\0';
  note.resize((note.size() + 3) / 4 * 4);
  note += description;
  note.resize((note.size() + 3) / 4 * 4);
  return note;
}

}  // namespace firetower::symbolizer
