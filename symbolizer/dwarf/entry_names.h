// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "symbolizer/dwarf/unit.h"
#include "symbolizer/string_pool.h"

namespace firetower::symbolizer::dwarf {

// Cache of function names in .debug_info. A copy of a function refers to the function, and the
// function to its declaration; each may be in another unit.
class EntryNames {
 public:
  struct Named {
    uint32_t name = 0;  // in the pool; 0: none
    uint16_t name_bytes = 0;
    uint32_t start_line = 0;
  };

  EntryNames(Units& units, const Unit& unit, std::span<const std::byte> unit_bytes,
             StringPool& pool)
      : units_(units),
        unit_(unit),
        unit_bytes_(unit_bytes),
        pool_(pool),
        parsed_before_(units.parsed_bytes()) {}

  // Returns the name and the start line of the entry at an offset of .debug_info. Reads each entry
  // once.
  Named Find(uint64_t info_offset);

 private:
  struct Place {
    const Unit* unit = nullptr;
    std::span<const std::byte> bytes;  // from the unit's first byte, or from the entry's
    size_t at = 0;
  };
  std::optional<Place> PlaceOf(uint64_t info_offset);
  Named Read(uint64_t info_offset);
  void SetName(std::string_view text, Named& named);

  Units& units_;
  const Unit& unit_;
  std::span<const std::byte> unit_bytes_;
  StringPool& pool_;
  std::unordered_map<uint64_t, Named> known_;
  size_t parsed_before_ = 0;
  std::optional<size_t> other_index_;
  Unit other_;
};

}  // namespace firetower::symbolizer::dwarf
