// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/elf/raw_symbol.h"

namespace firetower::symbolizer {

// Turns symbols that may overlap into disjoint ranges, sorted, each with the symbol that
// `eu-addr2line -f` prints there: its index in the place of its name's offset. `symbols` come by
// `order`; reorders them and settles what their labels cover. At most kMaxOverlap symbols contend
// for one address; further ones, which only a hostile file has, are left out there, so the cost is
// linear.
inline constexpr size_t kMaxOverlap = 64;
std::vector<SymbolTable::Range> ResolveOverlaps(std::vector<RawSymbol>& symbols);

}  // namespace firetower::symbolizer
