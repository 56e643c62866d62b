// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/dwarf/unit.h"

namespace firetower::symbolizer::dwarf {

struct UnitRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t unit = 0;  // index in Units::headers
};

// Returns the disjoint address ranges of all units, sorted by address. Reads .debug_aranges, and
// for units that are missing there their first entries.
std::vector<UnitRange> ReadUnitRanges(Units& units);

std::optional<uint32_t> FindUnit(const std::vector<UnitRange>& ranges, uint64_t elf_vaddr);

}  // namespace firetower::symbolizer::dwarf
