// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/elf_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace firetower::symbolizer {

namespace {

static_assert(std::endian::native == std::endian::little, "headers are read without byte swapping");

// A name table longer than this is not read; sections then have no names.
constexpr uint64_t kMaxSectionNamesBytes = 4u << 20;

// True when [offset, offset + length) lies in the source; no overflow.
bool Fits(const RandomAccess& source, uint64_t offset, uint64_t length) {
  return offset <= source.size() && length <= source.size() - offset;
}

template <typename T>
Status ReadArray(const RandomAccess& source, uint64_t offset, size_t count, std::vector<T>& out) {
  // Before the allocation: a count that the file cannot hold must not cost memory.
  if (!Fits(source, offset, count * sizeof(T))) {
    return Error(ErrorCode::kCorrupt, fmt::format("headers at {} lie beyond the file", offset));
  }
  out.resize(count);
  return source.ReadAt(offset, std::as_writable_bytes(std::span(out)));
}

Status CheckHeader(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return Error(ErrorCode::kUnsupported, "not an ELF file");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Error(ErrorCode::kUnsupported, "ELF, but not 64-bit little-endian");
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("ELF type {}: neither executable nor shared object", header.e_type));
  }
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
    return Error(ErrorCode::kCorrupt, "ELF program headers of an unknown size");
  }
  if (header.e_shoff != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) {
    return Error(ErrorCode::kCorrupt, "ELF section headers of an unknown size");
  }
  return OkStatus();
}

}  // namespace

Result<ElfFile> ElfFile::Open(const RandomAccess& source) {
  Elf64_Ehdr header;
  if (source.size() < sizeof(header)) return Error(ErrorCode::kUnsupported, "not an ELF file");
  RETURN_IF_ERROR(source.ReadAt(0, std::as_writable_bytes(std::span(&header, 1))));
  RETURN_IF_ERROR(CheckHeader(header));

  ElfFile file(source);
  file.type_ = header.e_type;
  file.machine_ = header.e_machine;
  // Section 0 holds the counts that do not fit into the header (gABI, "Section Header").
  Elf64_Shdr first{};
  if (header.e_shoff != 0 && Fits(source, header.e_shoff, sizeof(first))) {
    RETURN_IF_ERROR(source.ReadAt(header.e_shoff, std::as_writable_bytes(std::span(&first, 1))));
  }
  uint32_t segment_count = header.e_phnum == PN_XNUM ? first.sh_info : header.e_phnum;
  RETURN_IF_ERROR(file.ReadProgramHeaders(header, segment_count));
  RETURN_IF_ERROR(file.ReadSections(header, first));
  return file;
}

Status ElfFile::ReadProgramHeaders(const Elf64_Ehdr& header, uint32_t count) {
  if (count > kMaxProgramHeaders) {
    return Error(ErrorCode::kExhausted, fmt::format("{} ELF program headers", count));
  }
  return ReadArray(*source_, header.e_phoff, count, program_headers_);
}

Status ElfFile::ReadSections(const Elf64_Ehdr& header, const Elf64_Shdr& first) {
  if (header.e_shoff == 0) return OkStatus();
  uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  if (count > kMaxSections) {
    return Error(ErrorCode::kExhausted, fmt::format("{} ELF sections", count));
  }
  RETURN_IF_ERROR(ReadArray(*source_, header.e_shoff, static_cast<size_t>(count), sections_));

  uint32_t names_index = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (names_index >= sections_.size()) return OkStatus();
  const Elf64_Shdr& names = sections_[names_index];
  if (!SectionInFile(names) || names.sh_size > kMaxSectionNamesBytes) return OkStatus();
  section_names_.resize(names.sh_size);
  return source_->ReadAt(names.sh_offset, std::as_writable_bytes(std::span(section_names_)));
}

const Elf64_Shdr* ElfFile::FindSection(std::string_view name) const {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_name >= section_names_.size() || !SectionInFile(section)) continue;
    // c_str() ends at the table's end at the latest.
    if (section_names_.c_str() + section.sh_name == name) return &section;
  }
  return nullptr;
}

bool ElfFile::SectionInFile(const Elf64_Shdr& section) const {
  return section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS &&
         Fits(*source_, section.sh_offset, section.sh_size);
}

}  // namespace firetower::symbolizer
