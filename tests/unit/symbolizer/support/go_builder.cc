// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/symbolizer/support/go_builder.h"

#include <elf.h>

#include <cstring>
#include <map>

namespace firetower::symbolizer {

namespace {

constexpr uint64_t kImage = 0x400000;

using Version = TestGoFile::Version;

// Names and files: each NUL-terminated, at the offset that is returned.
class Strings {
 public:
  uint32_t Add(const std::string& text) {
    auto [entry, inserted] = offsets_.try_emplace(text, static_cast<uint32_t>(bytes_.size()));
    if (inserted) bytes_.append(text).push_back('\0');
    return entry->second;
  }
  const std::string& str() const { return bytes_; }

 private:
  std::string bytes_;
  std::map<std::string, uint32_t> offsets_;
};

// Offset 0 is no table.
class Values {
 public:
  uint32_t Add(const GoValueList& values) {
    if (values.empty()) return 0;
    const auto offset = static_cast<uint32_t>(bytes_.size());
    int32_t last = -1;
    for (const auto& [value, length] : values) {
      const int64_t change = int64_t{value} - last;
      bytes_.Uleb(static_cast<uint64_t>(change < 0 ? -change * 2 - 1 : change * 2)).Uleb(length);
      last = value;
    }
    bytes_.U8(0);
    return offset;
  }
  const std::string& str() const { return bytes_.str(); }

 private:
  CfiBytes bytes_ = CfiBytes().U8(0);
};

void Align(CfiBytes& bytes, size_t to) {
  while (bytes.size() % to != 0) bytes.U8(0);
}

void Put(std::string& image, uint64_t elf_vaddr, const std::string& bytes) {
  image.replace(elf_vaddr - kImage, bytes.size(), bytes);
}

template <typename T>
std::string Raw(const T& value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

}  // namespace

uint64_t TestGoFile::Add(const TestGoFunction& function) {
  uint64_t elf_vaddr = kCode;
  if (!functions_.empty()) {
    elf_vaddr = functions_.back().elf_vaddr + functions_.back().function.code.size();
    elf_vaddr = (elf_vaddr + 15) & ~uint64_t{15};
  }
  functions_.push_back({elf_vaddr, function});
  return elf_vaddr;
}

void TestGoFile::AddFrames(FrameBuilder::Format format, const std::string& bytes) {
  (format == FrameBuilder::Format::kEhFrame ? eh_frame_ : debug_frame_) = bytes;
}

// runtime.inlinedCall, one tree after the other; `trees` gets their offsets.
std::string TestGoFile::Funcdata(std::vector<uint32_t>& trees) const {
  Strings names;
  names.Add("");
  for (const Placed& placed : functions_) {
    names.Add(placed.function.name);
    for (const TestInlinedCall& call : placed.function.tree) names.Add(call.name);
  }
  CfiBytes bytes;
  for (const Placed& placed : functions_) {
    trees.push_back(placed.function.tree.empty() ? UINT32_MAX
                                                 : static_cast<uint32_t>(bytes.size()));
    for (const TestInlinedCall& call : placed.function.tree) {
      if (version_ == Version::kGo120) {
        bytes.U32(0).U32(names.Add(call.name)).U32(static_cast<uint32_t>(call.parent_pc)).U32(1);
      } else {
        bytes.U16(static_cast<uint16_t>(call.parent)).U16(0).U32(0).U32(7);
        bytes.U32(names.Add(call.name)).U32(static_cast<uint32_t>(call.parent_pc));
      }
    }
  }
  return bytes.str();
}

std::string TestGoFile::BuildTable() const {
  const bool old = version_ == Version::kGo116;
  Strings names;
  names.Add("");
  for (const Placed& placed : functions_) {
    names.Add(placed.function.name);
    for (const TestInlinedCall& call : placed.function.tree) names.Add(call.name);
  }
  Strings file_names;
  CfiBytes units;
  for (const std::string& file : files_) units.U32(file_names.Add(file));
  std::vector<uint32_t> trees;
  Funcdata(trees);

  Values values;
  CfiBytes records;
  const uint64_t entries_bytes = old ? functions_.size() * 16 + 8 : functions_.size() * 8 + 4;
  const uint64_t records_begin = (entries_bytes + 7) & ~uint64_t{7};
  CfiBytes entries;
  for (size_t i = 0; i < functions_.size(); ++i) {
    const auto& [elf_vaddr, function] = functions_[i];
    Align(records, 8);
    const uint64_t record = records_begin + records.size();
    if (old) {
      entries.U64(elf_vaddr).U64(record);
      records.U64(elf_vaddr);
    } else {
      entries.U32(elf_vaddr - kCode).U32(record);
      records.U32(elf_vaddr - kCode);
    }
    records.U32(names.Add(function.name)).U32(0).U32(0);
    records.U32(values.Add(function.depths)).U32(values.Add(function.files));
    records.U32(values.Add(function.lines)).U32(3).U32(0);
    if (version_ == Version::kGo120) records.U32(1);
    records.U8(0).U8(function.flags).U8(0).U8(4);
    records.U32(0).U32(0).U32(values.Add(function.inlined));
    if (old) Align(records, 8);
    for (size_t funcdata = 0; funcdata < 4; ++funcdata) {
      const bool tree = funcdata == 3 && trees[i] != UINT32_MAX;
      if (old) {
        records.U64(tree ? kFuncdata + trees[i] : 0);
      } else {
        records.U32(tree ? trees[i] : UINT32_MAX);
      }
    }
  }
  const uint64_t end = functions_.back().elf_vaddr + functions_.back().function.code.size();
  old ? entries.U64(end) : entries.U32(end - kCode);
  Align(entries, 8);

  CfiBytes header;
  header.U32(old ? 0xfffffffa : version_ == Version::kGo118 ? 0xfffffff0 : 0xfffffff1);
  header.U16(0).U8(1).U8(8).U64(functions_.size()).U64(files_.size());
  if (!old) header.U64(text_start_ && !relocated_ ? kCode : 0);
  uint64_t offset = header.size() + 5 * 8;
  std::string parts;
  for (const std::string& part :
       {names.str(), units.str(), file_names.str(), values.str(), entries.str() + records.str()}) {
    const uint64_t padded = (part.size() + 7) & ~uint64_t{7};
    header.U64(offset);
    parts.append(part).resize(parts.size() + padded - part.size());
    offset += padded;
  }
  return header.str() + parts;
}

std::string TestGoFile::BuildFuncdata() const {
  std::vector<uint32_t> trees;
  return Funcdata(trees);
}

std::string TestGoFile::BuildAround(const std::string& table, const std::string& funcdata) const {
  std::string image(0x10000, '\0');
  Put(image, kTable, table.substr(0, kFuncdata - kTable));
  Put(image, kFuncdata, funcdata.substr(0, kData - kFuncdata));
  uint64_t code_end = kCode;
  for (const auto& [elf_vaddr, function] : functions_) {
    Put(image, code_end, std::string(elf_vaddr - code_end, '\xcc'));
    Put(image, elf_vaddr, function.code);
    code_end = elf_vaddr + function.code.size();
  }

  // runtime.moduledata: words by their index. Of the slice behind the header only the pointer.
  std::map<size_t, uint64_t> words = {{0, kTable}, {22, kCode}};
  uint64_t names_offset = 0;
  const size_t names_word = version_ == Version::kGo116 ? 24 : 32;
  if (table.size() >= names_word + 8) std::memcpy(&names_offset, table.data() + names_word, 8);
  words[1] = kTable + names_offset;
  if (version_ == Version::kGo118) words[38] = kFuncdata;
  if (version_ == Version::kGo120) words[40] = kFuncdata;
  std::string relocations;
  for (const auto& [index, value] : words) {
    if (!module_data_) break;
    const uint64_t elf_vaddr = kData + 0x40 + index * 8;
    if (relocated_) {
      relocations += Raw(
          Elf64_Rela{elf_vaddr, ELF64_R_INFO(0, R_X86_64_RELATIVE), static_cast<int64_t>(value)});
    } else {
      Put(image, elf_vaddr, Raw(value));
    }
  }
  Put(image, kRelocations, relocations);
  const uint64_t dynamic = kRelocations + 0x1000;
  Put(image, dynamic,
      Raw(Elf64_Dyn{DT_RELA, {kRelocations}}) + Raw(Elf64_Dyn{DT_RELASZ, {relocations.size()}}) +
          Raw(Elf64_Dyn{}));
  Put(image, kEhFrame, eh_frame_);
  Put(image, kDebugFrame, debug_frame_);

  const uint64_t data = kData - kImage;
  std::vector<Elf64_Phdr> segments = {
      {PT_LOAD, PF_R | PF_X, 0, kImage, kImage, data, data, 0x1000},
      {PT_LOAD, PF_R | PF_W, data, kData, kData, image.size() - data, image.size() - data, 0x1000},
      {PT_DYNAMIC, PF_R, dynamic - kImage, dynamic, dynamic, 0x30, 0x30, 8}};

  Strings section_names;
  section_names.Add("");
  std::vector<Elf64_Shdr> sections = {{}};
  auto add = [&](const char* name, uint64_t elf_vaddr, uint64_t size) {
    Elf64_Shdr section{};
    section.sh_name = section_names.Add(name);
    section.sh_type = SHT_PROGBITS;
    section.sh_addr = elf_vaddr;
    section.sh_offset = elf_vaddr - kImage;
    section.sh_size = size;
    sections.push_back(section);
  };
  add(".gopclntab", kTable, table.size());
  add(".eh_frame", kEhFrame, eh_frame_.size());
  add(".debug_frame", kDebugFrame, debug_frame_.size());
  add(".shstrtab", kImage + 0xe000, 64);
  Put(image, kImage + 0xe000, section_names.str());

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = relocated_ ? ET_DYN : ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<uint16_t>(segments.size());
  header.e_shentsize = sizeof(Elf64_Shdr);
  if (section_headers_) {
    header.e_shoff = 0xf000;
    header.e_shnum = static_cast<uint16_t>(sections.size());
    header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);
  }
  std::string headers = Raw(header);
  for (const Elf64_Phdr& segment : segments) headers += Raw(segment);
  Put(image, kImage, headers);
  std::string section_headers;
  for (const Elf64_Shdr& section : sections) section_headers += Raw(section);
  if (section_headers_) Put(image, kImage + 0xf000, section_headers);
  return image;
}

}  // namespace firetower::symbolizer
