// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "symbolizer/dwarf/abbrevs.h"
#include "symbolizer/dwarf/entry.h"
#include "symbolizer/dwarf/sections.h"

namespace firetower::symbolizer::dwarf {

// The position of a unit in .debug_info, and its format.
struct UnitHeader {
  uint64_t offset = 0;
  uint64_t end = 0;
  uint64_t abbrev_offset = 0;
  uint32_t header_bytes = 0;
  UnitFormat format;
  uint8_t type = 0;
};

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// A unit with the values that its other entries refer to.
struct Unit {
  UnitHeader header;
  std::shared_ptr<const AbbrevTable> abbrevs;
  Entry root;
  uint64_t low_pc = 0;
  uint64_t str_offsets_base = 0;
  uint64_t addr_base = 0;
  uint64_t rnglists_base = 0;
};

// The units of one file, with everything that they refer to by offset or index. Every number is
// checked where it is used, and unreadable values count as missing. Belongs to one thread.
class Units {
 public:
  static Result<Units> Open(Sections sections, const DwarfLimits& limits);

  Sections& sections() { return sections_; }
  const std::vector<UnitHeader>& headers() const { return headers_; }
  // Returns the index of the unit that holds an offset of .debug_info.
  std::optional<size_t> Find(uint64_t info_offset) const;

  // Reads a unit's abbreviations and its first entry.
  Result<Unit> Read(size_t index);
  // Adds the address ranges of an entry's code.
  void AddRanges(const Unit& unit, const Entry& entry, std::vector<AddressRange>& ranges);
  // Returns a string attribute. `unit_bytes` begins with the unit's first byte and serves strings
  // that are stored in the unit itself.
  std::string_view Text(const Unit& unit, const Value& value,
                        std::span<const std::byte> unit_bytes);
  // Returns the offset in .debug_info that a reference means; 0 when it leads out of the section.
  static uint64_t Reference(const Unit& unit, const Value& value);

  // The bytes of .debug_abbrev that were parsed so far.
  size_t parsed_bytes() const { return parsed_bytes_; }
  size_t bytes() const { return headers_.capacity() * sizeof(UnitHeader) + sections_.held_bytes(); }
  // Frees the caches that make reading faster.
  void Forget();

 private:
  static constexpr size_t kMaxTables = 64;

  Units(Sections sections, const DwarfLimits& limits)
      : sections_(std::move(sections)), limits_(limits) {}
  Status ReadHeaders();
  Result<std::shared_ptr<const AbbrevTable>> Abbrevs(const UnitHeader& header);
  std::optional<uint64_t> Address(const Unit& unit, const Value& value);
  std::optional<uint64_t> AddressAt(const Unit& unit, uint64_t index);
  void AddOldRanges(const Unit& unit, uint64_t offset, std::vector<AddressRange>& ranges);
  void AddNewRanges(const Unit& unit, uint64_t offset, std::vector<AddressRange>& ranges);

  Sections sections_;
  DwarfLimits limits_;
  std::vector<UnitHeader> headers_;
  size_t parsed_bytes_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<const AbbrevTable>> tables_;  // by offset
};

}  // namespace firetower::symbolizer::dwarf
