// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/build_id.h"

#include <elf.h>

#include <cstring>
#include <vector>

#include "base/text/hex.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

namespace {

// Longer note segments are not read: real ones have some hundred bytes.
constexpr uint64_t kMaxNotesBytes = 64 * 1024;

// Unreadable or oversized notes have no build id; another segment or section may.
std::optional<std::string> BuildIdAt(const RandomAccess& source, uint64_t offset, uint64_t size,
                                     uint64_t align) {
  if (size == 0 || size > kMaxNotesBytes) return std::nullopt;
  std::vector<std::byte> notes(size);
  if (!source.ReadAt(offset, notes)) return std::nullopt;
  return FindBuildIdNote(notes, align);
}

}  // namespace

Result<std::string> ReadBuildId(const RandomAccess& source) {
  ASSIGN_OR_RETURN(ElfFile file, ElfFile::Open(source));
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_NOTE) continue;
    auto id = BuildIdAt(source, segment.p_offset, segment.p_filesz, segment.p_align);
    if (id) return *std::move(id);
  }
  for (const Elf64_Shdr& section : file.sections()) {
    if (section.sh_type != SHT_NOTE) continue;
    auto id = BuildIdAt(source, section.sh_offset, section.sh_size, section.sh_addralign);
    if (id) return *std::move(id);
  }
  return Error(ErrorCode::kNotFound, "no GNU build id");
}

std::optional<std::string> FindBuildIdNote(std::span<const std::byte> notes, uint64_t align) {
  const size_t padding = align == 8 ? 8 : 4;
  auto padded = [&](size_t length) { return (length + padding - 1) / padding * padding; };
  static constexpr char kOwner[] = "GNU";  // with its NUL, as n_namesz counts it
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data(), sizeof(header));
    // Sizes have 32 bits, so the sums cannot overflow size_t.
    size_t description = padded(sizeof(header) + header.n_namesz);
    size_t end = description + header.n_descsz;
    if (end > notes.size()) return std::nullopt;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof(kOwner) &&
        std::memcmp(notes.data() + sizeof(header), kOwner, sizeof(kOwner)) == 0 &&
        header.n_descsz > 0 && header.n_descsz <= kMaxBuildIdBytes) {
      return BuildIdHex({reinterpret_cast<const uint8_t*>(notes.data()) + description,
                         static_cast<size_t>(header.n_descsz)});
    }
    if (padded(end) >= notes.size()) return std::nullopt;
    notes = notes.subspan(padded(end));
  }
  return std::nullopt;
}

std::string BuildIdHex(std::span<const uint8_t> raw) {
  return ToHex({reinterpret_cast<const char*>(raw.data()), raw.size()});
}

}  // namespace firetower::symbolizer
