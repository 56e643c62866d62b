// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/find_pclntab.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "symbolizer/cfi/byte_reader.h"

namespace firetower::symbolizer {

namespace {

// internal/abi/symtab.go: one number for each form of the table.
constexpr uint32_t kMagicOld = 0xfffffffb;  // Go 1.2 to 1.15
constexpr uint32_t kMagic116 = 0xfffffffa;
constexpr uint32_t kMagic118 = 0xfffffff0;
constexpr uint32_t kMagic120 = 0xfffffff1;
constexpr uint64_t kMaxHeaderBytes = 72;
// A file without section headers is searched as far as this, and through so many look-alikes.
constexpr uint64_t kMaxSearchBytes = 256u << 20;
constexpr uint32_t kMaxCandidates = 1000;
constexpr size_t kSearchBytes = 64u << 10;
// Linkers align the table to 32; its numbers need only 8.
constexpr size_t kAlignment = 8;

struct Place {
  uint64_t file_offset = 0;
  uint64_t elf_vaddr = 0;
  uint64_t size = 0;
};

std::optional<Pclntab::Version> VersionOf(uint32_t magic) {
  switch (magic) {
    case kMagic116:
      return Pclntab::Version::kGo116;
    case kMagic118:
      return Pclntab::Version::kGo118;
    case kMagic120:
      return Pclntab::Version::kGo120;
    default:
      return std::nullopt;
  }
}

// runtime.pcHeader: magic, two zeros, 1 (bytes an instruction has at least), 8 (bytes of a
// pointer), counts, since 1.18 where the code begins, offsets of the parts.
Result<Pclntab::Layout> ReadHeader(std::span<const std::byte> head, const Place& place) {
  ByteReader reader(head);
  const auto magic = reader.Fixed<uint32_t>();
  const std::optional<Pclntab::Version> version = VersionOf(magic);
  if (!version) {
    return Error(ErrorCode::kUnsupported, magic == kMagicOld
                                              ? "a Go program from before 1.16"
                                              : fmt::format("Go function table {:#x}", magic));
  }
  if (reader.Fixed<uint16_t>() != 0 || reader.U8() != 1 || reader.U8() != 8) {
    return Error(ErrorCode::kUnsupported, "a Go function table of another machine");
  }
  Pclntab::Layout layout;
  layout.version = *version;
  layout.file_offset = place.file_offset;
  layout.elf_vaddr = place.elf_vaddr;
  const auto functions = reader.Fixed<uint64_t>();
  reader.Fixed<uint64_t>();  // files
  if (*version != Pclntab::Version::kGo116) layout.text_elf_vaddr = reader.Fixed<uint64_t>();
  const size_t offsets_begin = reader.position();
  for (uint64_t* part :
       {&layout.names, &layout.units, &layout.files, &layout.values, &layout.functions}) {
    *part = reader.Fixed<uint64_t>();
  }
  layout.end = place.size;
  const std::array parts = {uint64_t{offsets_begin + 40},
                            layout.names,
                            layout.units,
                            layout.files,
                            layout.values,
                            layout.functions,
                            layout.end};
  if (reader.failed() || functions == 0 || functions > Pclntab::kMaxFunctions ||
      !std::is_sorted(parts.begin(), parts.end())) {
    return Error(ErrorCode::kCorrupt, "the header of Go's function table");
  }
  layout.function_count = static_cast<uint32_t>(functions);
  return layout;
}

Result<Pclntab::Layout> ReadLayout(const ElfFile& file, const Place& place) {
  std::array<std::byte, kMaxHeaderBytes> bytes{};
  const auto head = std::span(bytes).first(std::min<uint64_t>(place.size, bytes.size()));
  RETURN_IF_ERROR(file.source().ReadAt(place.file_offset, head));
  return ReadHeader(head, place);
}

// Looks for a header at every aligned byte, within bounds for all places of a file together.
class Search {
 public:
  explicit Search(const ElfFile& file) : file_(&file) {}

  Result<Pclntab::Layout> In(const Place& place) {
    const uint64_t size = std::min(place.size, bytes_left_);
    bytes_left_ -= size;
    for (uint64_t at = 0; at + kMaxHeaderBytes <= size; at += kSearchBytes) {
      chunk_.resize(static_cast<size_t>(std::min<uint64_t>(kSearchBytes, size - at)));
      RETURN_IF_ERROR(file_->source().ReadAt(place.file_offset + at, chunk_));
      for (size_t i = 0; i + 8 <= chunk_.size(); i += kAlignment) {
        ByteReader reader(std::span<const std::byte>(chunk_).subspan(i, 8));
        if (!VersionOf(reader.Fixed<uint32_t>())) continue;
        if (candidates_left_ == 0) return NotFound();
        --candidates_left_;
        const uint64_t behind = at + i;
        auto layout = ReadLayout(
            *file_, {place.file_offset + behind, place.elf_vaddr + behind, place.size - behind});
        // Four bytes may be anything; with a whole header behind them, hardly.
        if (layout) return layout;
      }
    }
    return NotFound();
  }

  static Error NotFound() { return {ErrorCode::kNotFound, "no Go function table"}; }

 private:
  const ElfFile* file_;
  uint64_t bytes_left_ = kMaxSearchBytes;
  uint32_t candidates_left_ = kMaxCandidates;
  std::vector<std::byte> chunk_;
};

// Returns the parts of the file that are mapped and constant at run time: read-only segments, and
// data that the dynamic loader makes read-only after relocation.
std::vector<Place> ConstantData(const ElfFile& file) {
  std::vector<Place> places;
  const uint64_t file_bytes = file.source().size();
  for (const Elf64_Phdr& segment : file.program_headers()) {
    const bool constant = segment.p_type == PT_GNU_RELRO ||
                          (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0);
    if (!constant || segment.p_offset >= file_bytes) continue;
    places.push_back({segment.p_offset, segment.p_vaddr,
                      std::min(segment.p_filesz, file_bytes - segment.p_offset)});
  }
  return places;
}

Place PlaceOf(const Elf64_Shdr& section) {
  return {section.sh_offset, section.sh_addr, section.sh_size};
}

}  // namespace

Result<Pclntab::Layout> FindPclntab(const ElfFile& file) {
  for (const char* name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
    if (const Elf64_Shdr* section = file.FindSection(name)) {
      return ReadLayout(file, PlaceOf(*section));
    }
  }
  if (!file.sections().empty()) {
    // GNU ld puts .data.rel.ro.gopclntab into .data.rel.ro.
    const Elf64_Shdr* merged = file.FindSection(".data.rel.ro");
    const bool is_go = file.FindSection(".go.buildinfo") != nullptr ||
                       file.FindSection(".note.go.buildid") != nullptr;
    if (merged != nullptr && is_go) return Search(file).In(PlaceOf(*merged));
    return Search::NotFound();
  }
  Search search(file);
  for (const Place& place : ConstantData(file)) {
    auto layout = search.In(place);
    if (layout || layout.error().code() != ErrorCode::kNotFound) return layout;
  }
  return Search::NotFound();
}

}  // namespace firetower::symbolizer
