// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/symbolizer/support/cfi_builder.h"

#include <elf.h>

#include <cstring>

namespace firetower::symbolizer {

CfiBytes& CfiBytes::Number(uint64_t value, size_t count) {
  bytes_.append(reinterpret_cast<const char*>(&value), count);
  return *this;
}

CfiBytes& CfiBytes::Uleb(uint64_t value) {
  do {
    const auto low = static_cast<uint8_t>(value & 0x7f);
    value >>= 7;
    U8(value != 0 ? low | 0x80u : low);
  } while (value != 0);
  return *this;
}

CfiBytes& CfiBytes::Sleb(int64_t value) {
  while (true) {
    const auto low = static_cast<uint8_t>(value & 0x7f);
    value >>= 7;
    const bool last = value == ((low & 0x40) != 0 ? -1 : 0);
    U8(last ? low : low | 0x80u);
    if (last) return *this;
  }
}

CfiBytes& CfiBytes::Raw(std::string_view bytes) {
  bytes_.append(bytes);
  return *this;
}

void FrameBuilder::AddRecord(bool is_cie, uint64_t cie_offset, const CfiBytes& body) {
  const bool eh_frame = format_ == Format::kEhFrame;
  const bool long_id = cie_.dwarf64 && !eh_frame;
  const uint64_t id_bytes = long_id ? 8 : 4;
  const uint64_t id_offset = bytes_.size() + (cie_.dwarf64 ? 12 : 4);
  uint64_t id = eh_frame ? id_offset - cie_offset : cie_offset;
  if (is_cie) id = eh_frame ? 0 : UINT64_MAX;
  const uint64_t length = id_bytes + body.size();
  const uint64_t padding = (8 - (id_offset + length) % 8) % 8;
  if (cie_.dwarf64) {
    bytes_.U32(0xffffffff).U64(length + padding);
  } else {
    bytes_.U32(length + padding);
  }
  long_id ? bytes_.U64(id) : bytes_.U32(id);
  bytes_.Raw(body.str()).Raw(std::string(padding, '\0'));
}

uint64_t FrameBuilder::next_body_elf_vaddr() const {
  const bool long_id = cie_.dwarf64 && format_ == Format::kDebugFrame;
  return elf_vaddr_ + bytes_.size() + (cie_.dwarf64 ? 12 : 4) + (long_id ? 8 : 4);
}

uint64_t FrameBuilder::AddCie(const TestCie& cie) {
  cie_ = cie;
  last_cie_ = bytes_.size();
  CfiBytes body;
  body.U8(cie.version).Raw(cie.augmentation).U8(0);
  if (cie.version == 4) body.U8(cie.address_bytes).U8(cie.segment_bytes);
  body.Uleb(cie.code_alignment).Sleb(cie.data_alignment);
  cie.version == 1 ? body.U8(cie.return_register) : body.Uleb(cie.return_register);
  if (cie.augmentation.starts_with('z')) body.Block(cie.augmentation_data);
  body.Raw(cie.initial.str());
  AddRecord(true, 0, body);
  return last_cie_;
}

void FrameBuilder::AddFde(uint64_t begin_elf_vaddr, uint64_t bytes, const CfiBytes& program,
                          const CfiBytes& augmentation_data) {
  CfiBytes body;
  if (format_ == Format::kEhFrame && cie_.augmentation == "zR") {
    body.U32(begin_elf_vaddr - next_body_elf_vaddr()).U32(bytes);
  } else {
    body.U64(begin_elf_vaddr).U64(bytes);
  }
  if (cie_.augmentation.starts_with('z')) body.Block(augmentation_data);
  AddRawFde(body.Raw(program.str()), last_cie_);
}

void FrameBuilder::AddRawFde(const CfiBytes& range_and_rest, uint64_t cie_offset) {
  AddRecord(false, cie_offset, range_and_rest);
}

void FrameFile::AddSection(std::string_view name, uint64_t elf_vaddr, const std::string& bytes,
                           uint64_t flags) {
  sections_.push_back({std::string(name), elf_vaddr, bytes, flags});
}

std::string FrameFile::Build() const {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = machine_;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(header);
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = eh_frame_header_.empty() ? 1 : 2;

  std::string file(sizeof(header) + 2 * sizeof(Elf64_Phdr), '\0');
  auto place = [&](uint64_t elf_vaddr, const std::string& bytes) {
    const uint64_t offset = elf_vaddr - kImageElfVaddr;
    if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size());
    file.replace(offset, bytes.size(), bytes);
  };
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  for (const Section& section : sections_) {
    place(section.elf_vaddr, section.bytes);
    Elf64_Shdr& entry = headers.emplace_back();
    entry.sh_name = static_cast<uint32_t>(names.size());
    entry.sh_type = SHT_PROGBITS;
    entry.sh_flags = section.flags;
    entry.sh_addr = section.elf_vaddr;
    entry.sh_offset = section.elf_vaddr - kImageElfVaddr;
    entry.sh_size = section.bytes.size();
    names += section.name + '\0';
  }
  if (!eh_frame_header_.empty()) place(kEhFrameHeader, eh_frame_header_);
  Elf64_Phdr segments[2] = {};
  segments[0] = {PT_LOAD,        PF_R | PF_X, 0,           kImageElfVaddr,
                 kImageElfVaddr, file.size(), file.size(), 0x1000};
  segments[1] = {PT_GNU_EH_FRAME,
                 PF_R,
                 kEhFrameHeader - kImageElfVaddr,
                 kEhFrameHeader,
                 kEhFrameHeader,
                 eh_frame_header_.size(),
                 eh_frame_header_.size(),
                 4};
  if (section_headers_) {
    Elf64_Shdr& entry = headers.emplace_back();
    entry.sh_name = static_cast<uint32_t>(names.size());
    names += std::string(".shstrtab") + '\0';
    entry.sh_type = SHT_STRTAB;
    entry.sh_offset = file.size();
    entry.sh_size = names.size();
    file += names;
    header.e_shoff = file.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers.size());
    header.e_shstrndx = static_cast<uint16_t>(headers.size() - 1);
    file.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
  }
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), segments, sizeof(segments));
  return file;
}

std::string FileWithEhFrame(const FrameBuilder& frames) {
  FrameFile file;
  file.AddSection(".eh_frame", FrameFile::kEhFrame, frames.str());
  return file.Build();
}

}  // namespace firetower::symbolizer
