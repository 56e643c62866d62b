// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/module_data.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace firetower::symbolizer {

namespace {

// runtime.moduledata: pointers and lengths of 8 bytes. It begins with the address of the header and
// the slice of the names.
constexpr uint64_t kNames = 8;
constexpr uint64_t kText = 22 * 8ull;
// Go 1.20 put two words for coverage counters before it.
constexpr uint64_t kFuncdata118 = 38 * 8ull;
constexpr uint64_t kFuncdata120 = 40 * 8ull;
constexpr uint64_t kRecordBytes = kFuncdata120 + 8;

constexpr uint64_t kMaxDataBytes = 256u << 20;  // searched in all
constexpr size_t kChunkBytes = 64u << 10;
constexpr size_t kMaxCandidates = 16;

uint64_t FuncdataOffset(Pclntab::Version version) {
  return version == Pclntab::Version::kGo118 ? kFuncdata118 : kFuncdata120;
}

// The file's bytes of loaded segments by address.
class Image {
 public:
  explicit Image(const ElfFile& file) : file_(&file) {}

  std::optional<uint64_t> OffsetOf(uint64_t elf_vaddr, uint64_t size) const {
    for (const Elf64_Phdr& segment : file_->program_headers()) {
      if (segment.p_type != PT_LOAD || elf_vaddr < segment.p_vaddr) continue;
      const uint64_t distance = elf_vaddr - segment.p_vaddr;
      if (distance < segment.p_filesz && size <= segment.p_filesz - distance) {
        return segment.p_offset + distance;
      }
    }
    return std::nullopt;
  }

 private:
  const ElfFile* file_;
};

uint64_t WordAt(std::span<const std::byte> bytes, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

// Absolute addresses stand in the data as they are.
Result<std::optional<GoModuleData>> SearchData(const ElfFile& file, const Elf64_Phdr& segment,
                                               const Pclntab::Layout& layout,
                                               uint64_t& bytes_left) {
  const uint64_t size = std::min<uint64_t>(
      {segment.p_filesz, bytes_left,
       segment.p_offset < file.source().size() ? file.source().size() - segment.p_offset : 0});
  bytes_left -= size;
  std::vector<std::byte> chunk;
  // Chunks overlap by a record.
  for (uint64_t at = 0; at + kRecordBytes <= size; at += kChunkBytes - kRecordBytes) {
    chunk.resize(static_cast<size_t>(std::min<uint64_t>(kChunkBytes, size - at)));
    RETURN_IF_ERROR(file.source().ReadAt(segment.p_offset + at, chunk));
    for (size_t i = 0; i + kRecordBytes <= chunk.size(); i += 8) {
      if (WordAt(chunk, i) != layout.elf_vaddr) continue;
      if (WordAt(chunk, i + kNames) != layout.elf_vaddr + layout.names) continue;
      GoModuleData found;
      found.text_elf_vaddr = WordAt(chunk, i + kText);
      if (layout.version != Pclntab::Version::kGo116) {
        found.funcdata_elf_vaddr = WordAt(chunk, i + FuncdataOffset(layout.version));
      }
      return std::optional(found);
    }
  }
  return std::optional<GoModuleData>();
}

struct Relocations {
  uint64_t file_offset = 0;
  uint64_t count = 0;
};

// DT_RELA and DT_RELASZ (gABI, "Dynamic Section").
Result<Relocations> FindRelocations(const ElfFile& file) {
  Relocations found;
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_DYNAMIC) continue;
    uint64_t elf_vaddr = 0;
    uint64_t bytes = 0;
    const uint64_t entries = std::min<uint64_t>(segment.p_filesz / sizeof(Elf64_Dyn), 1024);
    for (uint64_t i = 0; i < entries; ++i) {
      Elf64_Dyn entry;
      RETURN_IF_ERROR(file.source().ReadAt(segment.p_offset + i * sizeof(entry),
                                           std::as_writable_bytes(std::span(&entry, 1))));
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_RELA) elf_vaddr = entry.d_un.d_ptr;
      if (entry.d_tag == DT_RELASZ) bytes = entry.d_un.d_val;
    }
    const auto offset = Image(file).OffsetOf(elf_vaddr, bytes);
    if (bytes > 0 && bytes <= kMaxDataBytes && offset) {
      found = {*offset, bytes / sizeof(Elf64_Rela)};
    }
  }
  return found;
}

// Calls `visit` with each word that becomes base + addend.
template <typename Visit>
Status ForEachRelative(const ElfFile& file, const Relocations& relocations, const Visit& visit) {
  std::vector<Elf64_Rela> chunk;
  for (uint64_t first = 0; first < relocations.count; first += chunk.size()) {
    chunk.resize(static_cast<size_t>(
        std::min<uint64_t>(kChunkBytes / sizeof(Elf64_Rela), relocations.count - first)));
    RETURN_IF_ERROR(file.source().ReadAt(relocations.file_offset + first * sizeof(Elf64_Rela),
                                         std::as_writable_bytes(std::span(chunk))));
    for (const Elf64_Rela& entry : chunk) {
      if (ELF64_R_TYPE(entry.r_info) != R_X86_64_RELATIVE) continue;
      visit(entry.r_offset, static_cast<uint64_t>(entry.r_addend));
    }
  }
  return OkStatus();
}

Result<std::optional<GoModuleData>> SearchRelocations(const ElfFile& file,
                                                      const Pclntab::Layout& layout) {
  ASSIGN_OR_RETURN(const Relocations relocations, FindRelocations(file));
  std::vector<uint64_t> candidates;
  RETURN_IF_ERROR(ForEachRelative(file, relocations, [&](uint64_t at, uint64_t value) {
    if (value == layout.elf_vaddr && candidates.size() < kMaxCandidates) candidates.push_back(at);
  }));
  if (candidates.empty()) return std::optional<GoModuleData>();

  struct Found {
    bool names = false;
    GoModuleData data;
  };
  std::vector<Found> found(candidates.size());
  const bool has_funcdata = layout.version != Pclntab::Version::kGo116;
  const uint64_t funcdata = FuncdataOffset(layout.version);
  RETURN_IF_ERROR(ForEachRelative(file, relocations, [&](uint64_t at, uint64_t value) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      const uint64_t behind = at - candidates[i];
      if (behind == kNames) found[i].names = value == layout.elf_vaddr + layout.names;
      if (behind == kText) found[i].data.text_elf_vaddr = value;
      if (behind == funcdata && has_funcdata) found[i].data.funcdata_elf_vaddr = value;
    }
  }));
  for (const Found& candidate : found) {
    if (candidate.names && candidate.data.text_elf_vaddr != 0) {
      return std::optional(candidate.data);
    }
  }
  return std::optional<GoModuleData>();
}

}  // namespace

Result<std::optional<GoModuleData>> FindGoModuleData(const ElfFile& file,
                                                     const Pclntab::Layout& layout) {
  uint64_t bytes_left = kMaxDataBytes;
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    ASSIGN_OR_RETURN(const auto found, SearchData(file, segment, layout, bytes_left));
    if (found) return found;
  }
  return SearchRelocations(file, layout);
}

}  // namespace firetower::symbolizer
