// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/sections.h"

#include <fmt/core.h>
#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace firetower::symbolizer::dwarf {

namespace {

constexpr uint32_t kCompressZstd = 2;  // ELFCOMPRESS_ZSTD, not in every elf.h

struct InflaterDeleter {
  void operator()(libdeflate_decompressor* inflater) const {
    libdeflate_free_decompressor(inflater);
  }
};

bool Unpack(uint32_t method, std::span<const std::byte> packed, std::vector<std::byte>& out) {
  if (method == ELFCOMPRESS_ZLIB) {
    std::unique_ptr<libdeflate_decompressor, InflaterDeleter> inflater(
        libdeflate_alloc_decompressor());
    return inflater &&
           libdeflate_zlib_decompress(inflater.get(), packed.data(), packed.size(), out.data(),
                                      out.size(), nullptr) == LIBDEFLATE_SUCCESS;
  }
  return method == kCompressZstd &&
         ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
}

// `left`: how much may still be unpacked.
Result<Section> OpenSection(const ElfFile& file, const Elf64_Shdr& header, uint64_t& left) {
  const RandomAccess& source = file.source();
  if ((header.sh_flags & SHF_COMPRESSED) == 0) {
    return Section(source, header.sh_offset, header.sh_size);
  }
  Elf64_Chdr chdr{};
  if (header.sh_size < sizeof(chdr)) return Error(ErrorCode::kCorrupt, "no compression header");
  RETURN_IF_ERROR(source.ReadAt(header.sh_offset, std::as_writable_bytes(std::span(&chdr, 1))));
  const uint64_t packed_bytes = header.sh_size - sizeof(chdr);
  if (chdr.ch_size > left || packed_bytes > left) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("debug information unpacks to {} bytes and more", chdr.ch_size));
  }
  left -= chdr.ch_size;
  std::vector<std::byte> packed(packed_bytes);
  RETURN_IF_ERROR(source.ReadAt(header.sh_offset + sizeof(chdr), packed));
  std::vector<std::byte> unpacked(chdr.ch_size);
  if (!Unpack(chdr.ch_type, packed, unpacked)) {
    return Error(ErrorCode::kCorrupt, "a compressed section does not unpack");
  }
  return Section(std::move(unpacked));
}

}  // namespace

Section::Section(const RandomAccess& source, uint64_t file_offset, uint64_t size)
    : source_(&source), file_offset_(file_offset), size_(size) {}

Section::Section(std::vector<std::byte> unpacked)
    : size_(unpacked.size()),
      unpacked_(std::make_shared<const std::vector<std::byte>>(std::move(unpacked))) {}

size_t Section::held_bytes() const { return unpacked_ ? unpacked_->size() : 0; }

Result<std::span<const std::byte>> Section::Read(uint64_t offset, uint64_t length,
                                                 std::vector<std::byte>& buffer) const {
  if (offset > size_ || length > size_ - offset) {
    return Error(ErrorCode::kCorrupt, fmt::format("section ends before {}+{}", offset, length));
  }
  if (unpacked_) return std::span(*unpacked_).subspan(offset, length);
  buffer.resize(length);
  RETURN_IF_ERROR(source_->ReadAt(file_offset_ + offset, buffer));
  return std::span<const std::byte>(buffer);
}

std::span<const std::byte> Section::Peek(uint64_t offset, size_t length) {
  if (offset >= size_) return {};
  length = std::min<uint64_t>(length, size_ - offset);
  if (unpacked_) return std::span(*unpacked_).subspan(offset, length);
  if (!window_) window_ = std::make_unique<FrameBytes>(*source_, file_offset_, size_);
  return window_->Get(offset, length);
}

std::string_view Section::Text(uint64_t offset) {
  // Most names are short; a longer one is looked at again.
  for (size_t length : {size_t{256}, kMaxTextBytes}) {
    std::span<const std::byte> bytes = Peek(offset, length);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const size_t end = text.find('\0');
    if (end != std::string_view::npos) return text.substr(0, end);
    if (length == kMaxTextBytes) return text;
  }
  return {};
}

Result<Sections> Sections::Open(const ElfFile& file, const DwarfLimits& limits) {
  Sections sections;
  const std::pair<std::string_view, Section*> wanted[] = {
      {".debug_info", &sections.info},         {".debug_abbrev", &sections.abbrev},
      {".debug_line", &sections.line},         {".debug_str", &sections.str},
      {".debug_line_str", &sections.line_str}, {".debug_str_offsets", &sections.str_offsets},
      {".debug_addr", &sections.addr},         {".debug_ranges", &sections.ranges},
      {".debug_rnglists", &sections.rnglists}, {".debug_aranges", &sections.aranges}};
  uint64_t left = limits.max_unpacked_bytes;
  for (auto [name, section] : wanted) {
    const Elf64_Shdr* header = file.FindSection(name);
    if (header == nullptr) continue;
    ASSIGN_OR_RETURN(*section, OpenSection(file, *header, left));
  }
  if (sections.info.size() == 0 || sections.abbrev.size() == 0) {
    return Error(ErrorCode::kNotFound, "no debug information");
  }
  return sections;
}

size_t Sections::held_bytes() const {
  size_t held = 0;
  for (const Section* section : {&info, &abbrev, &line, &str, &line_str, &str_offsets, &addr,
                                 &ranges, &rnglists, &aranges}) {
    held += section->held_bytes();
  }
  return held;
}

void Sections::Forget() {
  for (Section* section : {&info, &abbrev, &line, &str, &line_str, &str_offsets, &addr, &ranges,
                           &rnglists, &aranges}) {
    section->Forget();
  }
}

}  // namespace firetower::symbolizer::dwarf
