// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/signal_return.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace firetower::symbolizer {

namespace {

constexpr std::array<uint8_t, SignalReturnSearch::kBytes> kCode = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                                                   0x00, 0x00, 0x0f, 0x05};
constexpr uint64_t kChunkBytes = 64u << 10;
// The smallest read, because every read has a fixed cost: many small gaps are not free.
constexpr uint64_t kLeastBytes = 4096;

// Programs and libraries of hundreds of libraries have some 16 KiB.
constexpr uint64_t kMaxDynamicEntries = 1024;

bool NeedsLibraries(const ElfFile& file) {
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type != PT_DYNAMIC) continue;
    std::vector<Elf64_Dyn> entries(
        std::min<uint64_t>(segment.p_filesz / sizeof(Elf64_Dyn), kMaxDynamicEntries));
    if (!file.source().ReadAt(segment.p_offset, std::as_writable_bytes(std::span(entries)))) break;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NEEDED) return true;
      if (entry.d_tag == DT_NULL) break;
    }
  }
  return false;
}

}  // namespace

SignalReturnSearch::SignalReturnSearch(const ElfFile& file) : file_(&file) {
  if (NeedsLibraries(file)) return;
  // Linkers may put constants into the segment of the code, of many MiB.
  for (const Elf64_Shdr& section : file.sections()) {
    if (section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR) != 0) {
      AddCode(section.sh_addr, section.sh_size, section.sh_offset);
    }
  }
  if (!file.sections().empty()) return;
  for (const Elf64_Phdr& segment : file.program_headers()) {
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      AddCode(segment.p_vaddr, segment.p_filesz, segment.p_offset);
    }
  }
}

void SignalReturnSearch::AddCode(uint64_t elf_vaddr, uint64_t size, uint64_t file_offset) {
  uint64_t end = 0;
  if (__builtin_add_overflow(elf_vaddr, size, &end)) return;
  code_.push_back({elf_vaddr, end, file_offset});
}

std::optional<uint64_t> SignalReturnSearch::FindIn(uint64_t begin_elf_vaddr,
                                                   uint64_t end_elf_vaddr) {
  for (const Code& code : code_) {
    const uint64_t begin = std::max(begin_elf_vaddr, code.begin_elf_vaddr);
    const uint64_t end = std::min(end_elf_vaddr, code.end_elf_vaddr);
    if (begin >= end) continue;
    const uint64_t bias = code.begin_elf_vaddr - code.file_offset;
    if (const auto found = FindInFile(begin - bias, end - begin)) return *found + bias;
  }
  return std::nullopt;
}

std::optional<uint64_t> SignalReturnSearch::FindInFile(uint64_t file_offset, uint64_t size) {
  while (size >= kBytes && finds_left_ > 0 && bytes_left_ > 0) {
    const auto length = static_cast<size_t>(std::min(size, kChunkBytes));
    bytes_left_ -= std::min(bytes_left_, std::max<uint64_t>(length, kLeastBytes));
    buffer_.resize(std::max(buffer_.size(), length));
    if (!file_->source().ReadAt(file_offset, std::span(buffer_).first(length))) break;
    const void* found = ::memmem(buffer_.data(), length, kCode.data(), kCode.size());
    if (found != nullptr) {
      --finds_left_;
      return file_offset +
             static_cast<uint64_t>(static_cast<const std::byte*>(found) - buffer_.data());
    }
    if (length == size) break;
    // The last bytes of this chunk are searched again, because a match may begin there.
    file_offset += length - (kBytes - 1);
    size -= length - (kBytes - 1);
  }
  return std::nullopt;
}

}  // namespace firetower::symbolizer
