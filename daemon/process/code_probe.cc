// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/code_probe.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/foreign_file.h"

namespace firetower::daemon {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMaxImageBytes = uint64_t{64} << 30;

constexpr uint64_t PageOf(uint64_t address) { return address & ~(kPageBytes - 1); }

bool IsLoaded(const Elf64_Phdr& header) {
  uint64_t end = 0;
  return header.p_type == PT_LOAD && header.p_filesz != 0 &&
         !__builtin_add_overflow(header.p_offset, header.p_filesz, &end) &&
         !__builtin_add_overflow(header.p_vaddr, header.p_filesz, &end);
}
bool IsCode(const Elf64_Phdr& header) { return IsLoaded(header) && (header.p_flags & PF_X) != 0; }

// Says whether a file without headers may get them: its first bytes are zero, or an image's.
bool MayGetHeaders(const symbolizer::FileSource& source) {
  std::array<std::byte, SELFMAG> magic{};
  if (!source.ReadAt(0, magic)) return true;
  return std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0 ||
         std::ranges::all_of(magic, [](std::byte byte) { return byte == std::byte{0}; });
}

// Padding tells nothing: it is the same everywhere.
bool Tells(std::span<const std::byte> bytes) {
  return std::ranges::any_of(bytes, [&](std::byte byte) { return byte != bytes.front(); });
}

}  // namespace

struct CodeProbe::Image {
  symbolizer::FileSource source;
  std::vector<Elf64_Phdr> headers;
};

struct CodeProbe::Opened {
  uint32_t pid = 0;
  uint64_t start = 0;
  std::optional<Image> image;
};

CodeProbe::CodeProbe(const ProcFs& proc, FileSystems& file_systems)
    : proc_(proc), file_systems_(file_systems) {}
CodeProbe::~CodeProbe() = default;

void CodeProbe::Close() { last_.reset(); }

const CodeProbe::Image* CodeProbe::OpenOnce(uint32_t pid, const MapsLine& line) {
  if (last_ == nullptr || last_->pid != pid || last_->start != line.start)
    last_ = std::make_unique<Opened>(Opened{pid, line.start, Open(pid, line)});
  return last_->image ? &*last_->image : nullptr;
}

std::optional<CodeProbe::Image> CodeProbe::Open(uint32_t pid, const MapsLine& line) {
  if (file_systems_.Of(pid, line.device) == FileSystems::Kind::kOther) return std::nullopt;
  const std::string link =
      fmt::format("{}/{}/map_files/{:x}-{:x}", proc_.root(), pid, line.start, line.end);
  Result<UniqueFd> fd = symbolizer::OpenForeign(link, kMaxImageBytes);
  if (!fd) return std::nullopt;
  Result<symbolizer::FileSource> source = symbolizer::FileSource::FromFd(*std::move(fd));
  if (!source) return std::nullopt;
  Image image{*std::move(source), {}};
  if (auto file = symbolizer::ElfFile::Open(image.source)) image.headers = file->program_headers();
  return image;
}

bool CodeProbe::IsImage(uint32_t pid, const MapsLine& line) {
  if (const std::optional<bool> known = Known(line.device, line.inode)) return *known;
  const std::optional<Image> image = Open(pid, line);
  if (!image) return false;
  const uint64_t end = line.file_offset + (line.end - line.start);
  const bool is_image = std::ranges::any_of(image->headers, [&](const Elf64_Phdr& header) {
    return IsCode(header) && PageOf(header.p_offset) < end &&
           header.p_offset + header.p_filesz > line.file_offset;
  });
  if (known_.size() >= kMaxKnown) known_.clear();
  Seen& seen = known_[{line.device, line.inode}];
  seen.is_image = is_image;
  seen.is_final =
      !image->headers.empty() || ++seen.looks >= kMaxLooks || !MayGetHeaders(image->source);
  return is_image;
}

std::optional<bool> CodeProbe::Known(uint64_t device, uint64_t inode) const {
  const auto known = known_.find({device, inode});
  const bool is_final = known != known_.end() && known->second.is_final;
  return is_final ? std::optional(known->second.is_image) : std::nullopt;
}

bool CodeProbe::MayBecomeImage(uint64_t device, uint64_t inode) const {
  const auto known = known_.find({device, inode});
  return known != known_.end() && !known->second.is_final;
}

CodeProbe::Match CodeProbe::FindOrigin(uint32_t pid, const std::vector<MapsLine>& lines,
                                       size_t index, Origin& out) {
  for (size_t i = index; i-- > 0 && index - i <= kMaxBefore;) {
    const MapsLine& line = lines[i];
    if (line.inode == 0 || !Known(line.device, line.inode).value_or(true)) continue;
    const Image* const image = OpenOnce(pid, line);
    if (image == nullptr || image->headers.empty()) continue;  // Perhaps another piece.
    out.line = i;
    // No other one: images do not lie within one another.
    return Compare(pid, lines[index], *image, line, out.file_offset);
  }
  return Match::kNone;
}

CodeProbe::Match CodeProbe::Compare(uint32_t pid, const MapsLine& line, const Image& image,
                                    const MapsLine& of, uint64_t& file_offset) const {
  Match best = Match::kNone;
  for (const Elf64_Phdr& loaded : image.headers) {
    if (!IsLoaded(loaded) || of.file_offset < PageOf(loaded.p_offset) ||
        of.file_offset >= loaded.p_offset + loaded.p_filesz) {
      continue;
    }
    // Sums wrap: a bias is a difference of addresses.
    const uint64_t bias = of.start - (of.file_offset - loaded.p_offset + loaded.p_vaddr);
    for (const Elf64_Phdr& code : image.headers) {
      if (!IsCode(code)) continue;
      const uint64_t begin = std::max(line.start, code.p_vaddr + bias);
      const uint64_t end = std::min(line.end, code.p_vaddr + code.p_filesz + bias);
      if (begin >= end) continue;
      const uint64_t begin_offset = begin - (code.p_vaddr + bias) + code.p_offset;
      // Huge pages may begin before the code does, but not before the file.
      if (begin_offset < begin - line.start) continue;
      best = Match::kDiffers;
      if (!HasBytes(pid, begin, end, image, begin_offset)) continue;
      file_offset = begin_offset - (begin - line.start);
      return Match::kSame;
    }
  }
  return best;
}

// A debugger's breakpoints and a program's own patches may change a few pieces.
bool CodeProbe::HasBytes(uint32_t pid, uint64_t begin, uint64_t end, const Image& image,
                         uint64_t file_offset) const {
  const uint64_t pieces = std::clamp<uint64_t>((end - begin) / kPieceBytes, 1, kPieces);
  const uint64_t piece_bytes = std::min<uint64_t>(end - begin, kPieceBytes);
  const uint64_t step = (end - begin) / pieces;
  uint64_t compared = 0, same = 0, telling = 0;
  for (uint64_t i = 0; i < pieces; ++i) {
    std::array<std::byte, kPieceBytes> there{}, here{};
    const std::span<std::byte> in_memory = std::span(there).first(piece_bytes);
    const std::span<std::byte> in_file = std::span(here).first(piece_bytes);
    if (!proc_.ReadPresentMemory(pid, begin + i * step, in_memory)) continue;
    if (!image.source.ReadAt(file_offset + i * step, in_file)) continue;
    ++compared;
    if (!std::ranges::equal(in_memory, in_file)) continue;
    ++same;
    telling += Tells(in_file);
  }
  return compared >= (pieces + 1) / 2 && same * 4 >= compared * 3 &&
         telling >= std::min<uint64_t>(pieces, 2);
}

}  // namespace firetower::daemon
