// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/entry_names.h"

#include "symbolizer/dwarf/constants.h"

namespace firetower::symbolizer::dwarf {

namespace {

constexpr int kMaxReferences = 8;  // from a copy to the name; compilers need 3
constexpr size_t kEntryBytes = 4096;
constexpr size_t kMaxParsedBytes = 64u << 20;  // of other units' shapes, for one unit's names

}  // namespace

EntryNames::Named EntryNames::Find(uint64_t info_offset) {
  auto [known, inserted] = known_.try_emplace(info_offset);
  if (inserted) known->second = Read(info_offset);
  return known->second;
}

std::optional<EntryNames::Place> EntryNames::PlaceOf(uint64_t info_offset) {
  const UnitHeader& header = unit_.header;
  if (info_offset >= header.offset && info_offset < header.end) {
    return Place{&unit_, unit_bytes_, static_cast<size_t>(info_offset - header.offset)};
  }
  std::optional<size_t> index = units_.Find(info_offset);
  if (!index) return std::nullopt;
  if (other_index_ != index) {
    // Each entry may lead to another unit with shapes of its own.
    if (units_.parsed_bytes() - parsed_before_ > kMaxParsedBytes) return std::nullopt;
    Result<Unit> other = units_.Read(*index);
    if (!other) return std::nullopt;
    other_ = *std::move(other);
    other_index_ = index;
  }
  return Place{&other_, units_.sections().info.Peek(info_offset, kEntryBytes), 0};
}

void EntryNames::SetName(std::string_view text, Named& named) {
  static_assert(Section::kMaxTextBytes <= UINT16_MAX);
  named.name = pool_.Add(text).value_or(0);
  named.name_bytes = static_cast<uint16_t>(named.name == 0 ? 0 : text.size());
}

// A linkage name anywhere on the way counts before a plain one.
EntryNames::Named EntryNames::Read(uint64_t info_offset) {
  Named named;
  for (int i = 0; i < kMaxReferences && info_offset != 0; ++i) {
    std::optional<Place> place = PlaceOf(info_offset);
    if (!place) break;
    const Unit& unit = *place->unit;
    ByteReader reader(place->bytes);
    reader.Bytes(place->at);
    const Abbrev* abbrev = unit.abbrevs->Find(reader.Uleb());
    if (abbrev == nullptr || reader.failed()) break;
    const Entry entry = ReadEntry(reader, *abbrev, *unit.abbrevs, unit.header.format);
    if (reader.failed()) break;
    if (named.start_line == 0) named.start_line = static_cast<uint32_t>(entry.decl_line.number);
    if (entry.linkage_name.has()) {
      SetName(units_.Text(unit, entry.linkage_name, place->bytes), named);
      break;
    }
    if (entry.name.has() && named.name == 0) {
      SetName(units_.Text(unit, entry.name, place->bytes), named);
    }
    info_offset = Units::Reference(unit, entry.origin);
  }
  return named;
}

}  // namespace firetower::symbolizer::dwarf
