// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/unit.h"

#include <fmt/core.h>

#include <algorithm>

#include "symbolizer/dwarf/constants.h"

namespace firetower::symbolizer::dwarf {

namespace {

constexpr uint32_t kLongFormat = 0xffffffff;  // DWARF 5, 7.4: a length of 64 bits follows
constexpr size_t kMaxHeaderBytes = 48;
constexpr size_t kAbbrevBytes = 16u << 10;  // of most units; else as much as is there
constexpr size_t kRootBytes = 4096;         // of a unit's first entry: a dozen attributes
constexpr size_t kMaxRanges = 1u << 16;     // of one entry

// Parses a unit's header (DWARF 5, 7.5.1). Returns nothing if it is invalid.
std::optional<UnitHeader> ParseHeader(std::span<const std::byte> bytes, uint64_t offset,
                                      uint64_t section_bytes) {
  ByteReader reader(bytes);
  UnitHeader header;
  header.offset = offset;
  uint64_t length = reader.Fixed<uint32_t>();
  if (length == kLongFormat) {
    header.format.offset_size = 8;
    length = reader.Fixed<uint64_t>();
  }
  if (reader.failed() || length > section_bytes - offset ||
      reader.position() > section_bytes - offset - length) {
    return std::nullopt;
  }
  header.end = offset + reader.position() + length;
  const auto version = reader.Fixed<uint16_t>();
  header.format.version = static_cast<uint8_t>(std::min<uint16_t>(version, 255));
  header.type = kUnitCompile;
  if (version >= 5) {
    header.type = reader.U8();
    header.format.address_size = reader.U8();
    header.abbrev_offset = ReadSized(reader, header.format.offset_size);
    if (header.type == kUnitSkeleton || header.type == kUnitSplitCompile) reader.Bytes(8);
    if (header.type == kUnitType || header.type == kUnitSplitType) {
      reader.Bytes(8u + header.format.offset_size);
    }
  } else {
    header.abbrev_offset = ReadSized(reader, header.format.offset_size);
    header.format.address_size = reader.U8();
  }
  header.header_bytes = static_cast<uint32_t>(reader.position());
  // An unknown version can still be stepped over.
  if (reader.failed()) header.format.version = 0;
  return header;
}

}  // namespace

Result<Units> Units::Open(Sections sections, const DwarfLimits& limits) {
  Units units(std::move(sections), limits);
  RETURN_IF_ERROR(units.ReadHeaders());
  return units;
}

Status Units::ReadHeaders() {
  const uint64_t size = sections_.info.size();
  std::vector<std::byte> buffer;
  for (uint64_t offset = 0; offset < size;) {
    const uint64_t length = std::min<uint64_t>(size - offset, kMaxHeaderBytes);
    ASSIGN_OR_RETURN(std::span<const std::byte> bytes, sections_.info.Read(offset, length, buffer));
    std::optional<UnitHeader> header = ParseHeader(bytes, offset, size);
    if (!header) break;  // what came before is good
    if (headers_.size() >= limits_.max_units) {
      return Error(ErrorCode::kExhausted, fmt::format("more than {} DWARF units", headers_.size()));
    }
    offset = header->end;
    headers_.push_back(*header);
  }
  headers_.shrink_to_fit();
  return OkStatus();
}

std::optional<size_t> Units::Find(uint64_t info_offset) const {
  auto above = std::upper_bound(
      headers_.begin(), headers_.end(), info_offset,
      [](uint64_t offset, const UnitHeader& header) { return offset < header.offset; });
  if (above == headers_.begin()) return std::nullopt;
  const auto index = static_cast<size_t>(above - headers_.begin()) - 1;
  if (info_offset >= headers_[index].end) return std::nullopt;
  return index;
}

Result<std::shared_ptr<const AbbrevTable>> Units::Abbrevs(const UnitHeader& header) {
  // Units of one table and different formats are not seen in practice, and only read wrongly.
  const uint64_t key = header.abbrev_offset << 8 | uint64_t{header.format.offset_size} << 4 |
                       (header.format.version & 15u);
  auto known = tables_.find(key);
  if (known != tables_.end()) return known->second;
  Section& section = sections_.abbrev;
  auto table = AbbrevTable::Parse(section.Peek(header.abbrev_offset, kAbbrevBytes), header.format);
  if (!table) {
    table = AbbrevTable::Parse(section.Peek(header.abbrev_offset, FrameBytes::kMaxLength),
                               header.format);
  }
  if (!table) {
    parsed_bytes_ += FrameBytes::kMaxLength;
    return table.error();
  }
  parsed_bytes_ += table->parsed_bytes();
  if (tables_.size() >= kMaxTables) tables_.clear();
  auto shared = std::make_shared<const AbbrevTable>(*std::move(table));
  tables_.emplace(key, shared);
  return shared;
}

Result<Unit> Units::Read(size_t index) {
  const UnitHeader& header = headers_[index];
  const uint8_t address_size = header.format.address_size;
  if (header.format.version < 2 || header.format.version > 5 ||
      (address_size != 8 && address_size != 4)) {
    return Error(ErrorCode::kUnsupported, fmt::format("DWARF version {}", header.format.version));
  }
  Unit unit;
  unit.header = header;
  ASSIGN_OR_RETURN(unit.abbrevs, Abbrevs(header));
  const uint64_t first = header.offset + header.header_bytes;
  ByteReader reader(sections_.info.Peek(first, std::min<uint64_t>(header.end - first, kRootBytes)));
  const Abbrev* abbrev = unit.abbrevs->Find(reader.Uleb());
  if (abbrev == nullptr || reader.failed()) {
    return Error(ErrorCode::kCorrupt, "a DWARF unit without an entry");
  }
  unit.root = ReadEntry(reader, *abbrev, *unit.abbrevs, header.format);
  // Its functions are in the .dwo. The line table is here, but which function a line belongs to, of
  // those inlined there, is not: a line would stand beside another function's name.
  if (unit.root.dwo_name.has() && !abbrev->has_children) {
    return Error(ErrorCode::kUnsupported, "a unit whose functions are in another file (.dwo)");
  }
  for (Value* text : {&unit.root.name, &unit.root.comp_dir}) {
    if (text->form == kFormString) text->number += header.header_bytes;
  }
  // Without the attribute the first list follows the header (DWARF 5, 7.26 to 7.28).
  const uint64_t behind_header = header.format.offset_size == 8 ? 16 : 8;
  const uint64_t behind_lists = header.format.offset_size == 8 ? 20 : 12;
  unit.str_offsets_base =
      unit.root.str_offsets_base.has() ? unit.root.str_offsets_base.number : behind_header;
  unit.addr_base = unit.root.addr_base.has() ? unit.root.addr_base.number : behind_header;
  unit.rnglists_base =
      unit.root.rnglists_base.has() ? unit.root.rnglists_base.number : behind_lists;
  unit.low_pc = Address(unit, unit.root.low_pc).value_or(0);
  return unit;
}

std::optional<uint64_t> Units::AddressAt(const Unit& unit, uint64_t index) {
  const unsigned size = unit.header.format.address_size;
  if (index > UINT32_MAX) return std::nullopt;
  ByteReader reader(sections_.addr.Peek(unit.addr_base + index * size, size));
  const uint64_t address = ReadSized(reader, size);
  if (reader.failed()) return std::nullopt;
  return address;
}

std::optional<uint64_t> Units::Address(const Unit& unit, const Value& value) {
  switch (value.form) {
    case kFormAddr:
      return value.number;
    case kFormAddrx:
    case kFormAddrx1:
    case kFormAddrx2:
    case kFormAddrx3:
    case kFormAddrx4:
      return AddressAt(unit, value.number);
    default:
      return std::nullopt;
  }
}

void Units::AddRanges(const Unit& unit, const Entry& entry, std::vector<AddressRange>& ranges) {
  if (entry.ranges.has()) {
    uint64_t offset = entry.ranges.number;
    if (unit.header.format.version < 5) return AddOldRanges(unit, offset, ranges);
    if (entry.ranges.form == kFormRnglistx) {
      const unsigned size = unit.header.format.offset_size;
      if (offset > UINT32_MAX) return;
      ByteReader reader(sections_.rnglists.Peek(unit.rnglists_base + offset * size, size));
      offset = unit.rnglists_base + ReadSized(reader, size);
      if (reader.failed()) return;
    }
    return AddNewRanges(unit, offset, ranges);
  }
  std::optional<uint64_t> low = Address(unit, entry.low_pc);
  if (!low || !entry.high_pc.has()) return;
  std::optional<uint64_t> high = Address(unit, entry.high_pc);
  // A constant counts from the low address (DWARF 4, 2.17.2).
  if (!high) high = *low + entry.high_pc.number;
  if (*high > *low) ranges.push_back({*low, *high});
}

// DWARF 4, 2.17.3.
void Units::AddOldRanges(const Unit& unit, uint64_t offset, std::vector<AddressRange>& ranges) {
  const unsigned size = unit.header.format.address_size;
  const uint64_t base_selection = size == 8 ? UINT64_MAX : UINT32_MAX;
  uint64_t base = unit.low_pc;
  for (size_t i = 0; i < kMaxRanges; ++i, offset += 2 * size) {
    ByteReader reader(sections_.ranges.Peek(offset, 2 * size));
    const uint64_t begin = ReadSized(reader, size);
    const uint64_t end = ReadSized(reader, size);
    if (reader.failed() || (begin == 0 && end == 0)) return;
    if (begin == base_selection) {
      base = end;
    } else if (end > begin) {
      ranges.push_back({base + begin, base + end});
    }
  }
}

// DWARF 5, 2.17.3.
void Units::AddNewRanges(const Unit& unit, uint64_t offset, std::vector<AddressRange>& ranges) {
  constexpr size_t kMaxEntryBytes = 24;
  const unsigned size = unit.header.format.address_size;
  uint64_t base = unit.low_pc;
  for (size_t i = 0; i < kMaxRanges; ++i) {
    ByteReader reader(sections_.rnglists.Peek(offset, kMaxEntryBytes));
    const uint8_t kind = reader.U8();
    std::optional<uint64_t> begin;
    std::optional<uint64_t> end;
    switch (kind) {
      case kRangeBaseAddressx:
        base = AddressAt(unit, reader.Uleb()).value_or(0);
        break;
      case kRangeBaseAddress:
        base = ReadSized(reader, size);
        break;
      case kRangeStartxEndx: {
        const uint64_t first = reader.Uleb();
        const uint64_t last = reader.Uleb();
        begin = AddressAt(unit, first);
        end = AddressAt(unit, last);
        break;
      }
      case kRangeStartxLength: {
        const uint64_t first = reader.Uleb();
        const uint64_t length = reader.Uleb();
        begin = AddressAt(unit, first);
        if (begin) end = *begin + length;
        break;
      }
      case kRangeOffsetPair:
        begin = base + reader.Uleb();
        end = base + reader.Uleb();
        break;
      case kRangeStartEnd:
        begin = ReadSized(reader, size);
        end = ReadSized(reader, size);
        break;
      case kRangeStartLength:
        begin = ReadSized(reader, size);
        end = *begin + reader.Uleb();
        break;
      default:  // kRangeEnd, and what nobody knows
        return;
    }
    if (reader.failed()) return;
    if (begin && end && *end > *begin) ranges.push_back({*begin, *end});
    offset += reader.position();
  }
}

std::string_view Units::Text(const Unit& unit, const Value& value,
                             std::span<const std::byte> unit_bytes) {
  switch (value.form) {
    case kFormString: {
      if (value.number >= unit_bytes.size()) return {};
      const std::span<const std::byte> rest = unit_bytes.subspan(value.number);
      const std::string_view text(reinterpret_cast<const char*>(rest.data()),
                                  std::min(rest.size(), Section::kMaxTextBytes));
      return text.substr(0, text.find('\0'));
    }
    case kFormStrp:
      return sections_.str.Text(value.number);
    case kFormLineStrp:
      return sections_.line_str.Text(value.number);
    case kFormStrx:
    case kFormStrx1:
    case kFormStrx2:
    case kFormStrx3:
    case kFormStrx4: {
      const unsigned size = unit.header.format.offset_size;
      if (value.number > UINT32_MAX) return {};
      ByteReader reader(
          sections_.str_offsets.Peek(unit.str_offsets_base + value.number * size, size));
      const uint64_t offset = ReadSized(reader, size);
      return reader.failed() ? std::string_view() : sections_.str.Text(offset);
    }
    default:
      return {};
  }
}

uint64_t Units::Reference(const Unit& unit, const Value& value) {
  switch (value.form) {
    case kFormRef1:
    case kFormRef2:
    case kFormRef4:
    case kFormRef8:
    case kFormRefUdata:
      // Within the unit, from its first byte.
      return value.number < unit.header.end - unit.header.offset ? unit.header.offset + value.number
                                                                 : 0;
    case kFormRefAddr:
      return value.number;
    default:
      return 0;
  }
}

void Units::Forget() {
  tables_.clear();
  sections_.Forget();
}

}  // namespace firetower::symbolizer::dwarf
