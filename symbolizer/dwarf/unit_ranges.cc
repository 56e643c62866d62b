// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/unit_ranges.h"

#include <algorithm>
#include <set>

#include "symbolizer/dwarf/constants.h"

namespace firetower::symbolizer::dwarf {

namespace {

constexpr size_t kMaxUnitRanges = 1u << 20;  // 24 bytes each, and twice that while they are sorted

// One set of .debug_aranges (DWARF 5, 6.1.2) at `offset`, which is set behind it. False ends the
// section.
bool AddSet(Units& units, uint64_t& offset, std::vector<bool>& told,
            std::vector<UnitRange>& ranges) {
  constexpr size_t kMaxHeaderBytes = 32;
  Section& section = units.sections().aranges;
  ByteReader header(section.Peek(offset, kMaxHeaderBytes));
  uint64_t length = header.Fixed<uint32_t>();
  const unsigned offset_size = length == UINT32_MAX ? 8 : 4;
  if (offset_size == 8) length = header.Fixed<uint64_t>();
  const uint64_t begin = offset;
  const uint64_t end = begin + header.position() + length;
  const auto version = header.Fixed<uint16_t>();
  const uint64_t info_offset = ReadSized(header, offset_size);
  const unsigned size = header.U8();
  const unsigned selectors = header.U8();
  if (header.failed() || end > section.size() || end <= begin) return false;
  offset = end;
  std::optional<size_t> unit = units.Find(info_offset);
  if (version != 2 || selectors != 0 || (size != 8 && size != 4) || !unit) return true;
  told[*unit] = true;
  uint64_t at = begin + (header.position() + 2 * size - 1) / (2 * size) * (2 * size);
  for (; at + 2 * size <= end && ranges.size() < kMaxUnitRanges; at += 2 * size) {
    ByteReader pair(section.Peek(at, 2 * size));
    const uint64_t address = ReadSized(pair, size);
    const uint64_t bytes = ReadSized(pair, size);
    if (pair.failed() || (address == 0 && bytes == 0)) break;
    uint64_t last = 0;
    if (address == 0 || bytes == 0 || __builtin_add_overflow(address, bytes, &last)) continue;
    ranges.push_back({address, last, static_cast<uint32_t>(*unit)});
  }
  return true;
}

// Disjoint ranges of what may overlap: a function that many units have is in the program once, and
// all of them claim it. The first unit has it then, as llvm-symbolizer decides, too.
std::vector<UnitRange> Flatten(const std::vector<UnitRange>& ranges) {
  struct Edge {
    uint64_t at;
    bool ends;
    uint32_t unit;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * ranges.size());
  for (const UnitRange& range : ranges) {
    edges.push_back({range.begin, false, range.unit});
    edges.push_back({range.end, true, range.unit});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    // A range begins before it ends, even if something else ends there.
    return a.at != b.at ? a.at < b.at : a.ends < b.ends;
  });
  std::multiset<uint32_t> open;
  std::vector<UnitRange> flat;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].ends) {
      open.erase(open.find(edges[i].unit));
    } else {
      open.insert(edges[i].unit);
    }
    if (open.empty() || i + 1 == edges.size() || edges[i + 1].at == edges[i].at) continue;
    const UnitRange next{edges[i].at, edges[i + 1].at, *open.begin()};
    if (!flat.empty() && flat.back().end == next.begin && flat.back().unit == next.unit) {
      flat.back().end = next.end;
    } else {
      flat.push_back(next);
    }
  }
  flat.shrink_to_fit();
  return flat;
}

}  // namespace

std::vector<UnitRange> ReadUnitRanges(Units& units) {
  const std::vector<UnitHeader>& headers = units.headers();
  std::vector<bool> told(headers.size());
  std::vector<UnitRange> ranges;
  const uint64_t size = units.sections().aranges.size();
  for (uint64_t offset = 0; offset < size && ranges.size() < kMaxUnitRanges;) {
    if (!AddSet(units, offset, told, ranges)) break;
  }
  std::vector<AddressRange> of_root;
  for (size_t i = 0; i < headers.size() && ranges.size() < kMaxUnitRanges; ++i) {
    if (told[i] || headers[i].type != kUnitCompile) continue;
    Result<Unit> unit = units.Read(i);
    if (!unit) continue;
    of_root.clear();
    units.AddRanges(*unit, unit->root, of_root);
    for (const AddressRange& range : of_root) {
      if (range.begin != 0) ranges.push_back({range.begin, range.end, static_cast<uint32_t>(i)});
    }
  }
  return Flatten(ranges);
}

std::optional<uint32_t> FindUnit(const std::vector<UnitRange>& ranges, uint64_t elf_vaddr) {
  auto above =
      std::upper_bound(ranges.begin(), ranges.end(), elf_vaddr,
                       [](uint64_t at, const UnitRange& range) { return at < range.begin; });
  if (above == ranges.begin() || elf_vaddr >= (above - 1)->end) return std::nullopt;
  return (above - 1)->unit;
}

}  // namespace firetower::symbolizer::dwarf
