// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/symbol_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace firetower::symbolizer {

SymbolTable::SymbolTable(uint64_t base_vaddr, std::vector<LoadSegment> segments,
                         const std::vector<Range>& ranges, NameBlob names)
    : base_vaddr_(base_vaddr),
      segments_(std::move(segments)),
      starts_(StartIndex::Of(ranges)),
      names_(std::move(names)) {
  std::stable_partition(segments_.begin(), segments_.end(),
                        [](const LoadSegment& segment) { return segment.executable; });
  segments_.shrink_to_fit();
  bodies_.reserve(ranges.size());
  for (const Range& range : ranges) {
    if (range.function_start != range.start) {
      continued_.emplace_back(static_cast<uint32_t>(bodies_.size()), range.function_start);
    }
    const size_t name_bytes =
        range.name_bytes != 0 ? range.name_bytes : std::strlen(names_.At(range.name_offset));
    bodies_.push_back({range.size_bytes, range.name_offset, static_cast<uint32_t>(name_bytes)});
  }
  continued_.shrink_to_fit();
}

std::optional<Symbol> SymbolTable::Find(uint64_t file_offset) const {
  std::optional<uint64_t> elf_vaddr = FileOffsetToVaddr(file_offset);
  if (!elf_vaddr) return std::nullopt;
  return FindVaddr(*elf_vaddr);
}

size_t SymbolTable::FindRange(uint64_t elf_vaddr) const {
  if (elf_vaddr < base_vaddr_ || elf_vaddr - base_vaddr_ > UINT32_MAX) return kNotFound;
  const auto relative = static_cast<uint32_t>(elf_vaddr - base_vaddr_);
  const size_t index = starts_.FindAtOrBelow(relative);
  if (index == kNotFound) return kNotFound;
  return relative - starts_.start(index) < bodies_[index].size_bytes ? index : kNotFound;
}

std::optional<Symbol> SymbolTable::FindVaddr(uint64_t elf_vaddr) const {
  const size_t index = FindRange(elf_vaddr);
  if (index == kNotFound) return std::nullopt;
  uint32_t function_start = starts_.start(index);
  auto continued = std::lower_bound(continued_.begin(), continued_.end(),
                                    std::pair<uint32_t, uint32_t>(static_cast<uint32_t>(index), 0));
  if (continued != continued_.end() && continued->first == index) {
    function_start = continued->second;
  }
  return Symbol{NameOf(bodies_[index]), elf_vaddr - base_vaddr_ - function_start};
}

uint64_t SymbolTable::NamesHash() const {
  uint64_t hash = kHashSeed;
  for (size_t i = 0; i < bodies_.size(); ++i) {
    hash = HashWord(hash, base_vaddr_ + starts_.start(i));
    hash = HashWord(hash, HashBytes(NameOf(bodies_[i])));
  }
  return hash;
}

std::optional<uint64_t> SymbolTable::FileOffsetToVaddr(uint64_t file_offset) const {
  for (const LoadSegment& segment : segments_) {
    if (file_offset >= segment.file_offset &&
        file_offset - segment.file_offset < segment.file_size_bytes) {
      return segment.elf_vaddr + (file_offset - segment.file_offset);
    }
  }
  return std::nullopt;
}

bool SymbolTable::FindFrames(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const {
  const size_t before = out.size();
  if (source_) source_->Find(elf_vaddr, out);
  const size_t range = FindRange(elf_vaddr);
  if (range != kNotFound) {
    if (out.size() == before) out.emplace_back();
    out.back().symbol = static_cast<uint32_t>(range);
    out.back().name = NameOf(bodies_[range]);
  }
  // A line of padding, or of assembly that was stripped.
  if (out.size() == before + 1 && out.back().name.empty()) out.pop_back();
  return out.size() > before;
}

size_t SymbolTable::bytes() const {
  return (source_ ? source_->bytes() : 0) + sizeof(*this) +
         segments_.capacity() * sizeof(LoadSegment) + starts_.bytes() +
         bodies_.capacity() * sizeof(Body) + continued_.capacity() * sizeof(continued_[0]) +
         names_.capacity();
}

std::string FormatUnknown(std::string_view module_basename, uint64_t offset) {
  // A pseudo-file such as [vdso] brings its own brackets.
  if (module_basename.size() > 2 && module_basename.front() == '[' &&
      module_basename.back() == ']') {
    module_basename = module_basename.substr(1, module_basename.size() - 2);
  }
  return fmt::format("[{}]+0x{:x}", module_basename, offset);
}

}  // namespace firetower::symbolizer
