// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/frame_section.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "symbolizer/cfi/encoded_pointer.h"

namespace firetower::symbolizer {

namespace {

FrameSection FromHeader(FrameSection::Format format, const Elf64_Shdr& header) {
  return {.format = format,
          .file_offset = header.sh_offset,
          .elf_vaddr = header.sh_addr,
          .size = header.sh_size};
}

const Elf64_Phdr* FindSegment(const ElfFile& file, uint32_t type) {
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type == type) return &segment;
  }
  return nullptr;
}

// The rest of the loaded segment's bytes in the file from that address on.
std::optional<FrameSection> LoadedFrom(const ElfFile& file, uint64_t elf_vaddr) {
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_LOAD || elf_vaddr < segment.p_vaddr) continue;
    const uint64_t distance = elf_vaddr - segment.p_vaddr;
    if (distance >= segment.p_filesz) continue;
    const uint64_t file_bytes = file.source().size();
    if (segment.p_offset >= file_bytes || distance >= file_bytes - segment.p_offset) continue;
    const uint64_t file_offset = segment.p_offset + distance;
    return FrameSection{.file_offset = file_offset,
                        .elf_vaddr = elf_vaddr,
                        .size = std::min(segment.p_filesz - distance, file_bytes - file_offset),
                        .ends_at_zero = true};
  }
  return std::nullopt;
}

// Reads ".eh_frame_hdr" (LSB Core): version, three encodings, then the address of .eh_frame. Its
// search table is not used, because the records have the same addresses.
std::optional<FrameSection> FromEhFrameHeader(const ElfFile& file) {
  const Elf64_Phdr* segment = FindSegment(file, PT_GNU_EH_FRAME);
  if (segment == nullptr) return std::nullopt;
  std::array<std::byte, 20> bytes{};  // the longest pointer is an aligned one
  const std::span<std::byte> head =
      std::span(bytes).first(std::min<size_t>(segment->p_filesz, bytes.size()));
  if (!file.source().ReadAt(segment->p_offset, head)) return std::nullopt;
  ByteReader reader(head);
  const uint8_t version = reader.U8();
  const uint8_t encoding = reader.U8();
  reader.Fixed<uint16_t>();
  const PointerBase base = {.reader_elf_vaddr = segment->p_vaddr,
                            .data_elf_vaddr = segment->p_vaddr};
  const uint64_t elf_vaddr = ReadEncodedPointer(reader, encoding, base);
  if (version != 1 || elf_vaddr == 0 || reader.failed()) return std::nullopt;
  return LoadedFrom(file, elf_vaddr);
}

Status CheckSize(const std::optional<FrameSection>& section) {
  if (!section || section->ends_at_zero || section->size <= kMaxFrameSectionBytes) {
    return OkStatus();
  }
  return Error(ErrorCode::kExhausted,
               fmt::format("{} bytes of call frame information", section->size));
}

}  // namespace

Result<FrameSections> FindFrameSections(const ElfFile& file) {
  using Format = FrameSection::Format;
  FrameSections found;
  if (const Elf64_Shdr* header = file.FindSection(".eh_frame")) {
    found.eh_frame = FromHeader(Format::kEhFrame, *header);
  } else {
    found.eh_frame = FromEhFrameHeader(file);
    // Only a bound, and what follows the records of a small file may be large.
    if (found.eh_frame) {
      found.eh_frame->size = std::min(found.eh_frame->size, kMaxFrameSectionBytes);
    }
  }
  if (const Elf64_Shdr* header = file.FindSection(".debug_frame")) {
    found.compressed_debug_frame = (header->sh_flags & SHF_COMPRESSED) != 0;
    if (!found.compressed_debug_frame) {
      found.debug_frame = FromHeader(Format::kDebugFrame, *header);
    }
  }
  RETURN_IF_ERROR(CheckSize(found.eh_frame));
  RETURN_IF_ERROR(CheckSize(found.debug_frame));
  return found;
}

}  // namespace firetower::symbolizer
