// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/elf/symbols/raw_symbol.h"

namespace firetower::symbolizer {

// Turns symbols that may overlap into disjoint, sorted ranges. Each range has the symbol that
// `eu-addr2line -f` prints there: its index, stored in place of the name's offset. Expects
// `symbols` sorted by `order`; reorders them and sets the ends of labels. At most kMaxOverlap
// symbols compete for one address; further ones, which only a hostile file has, are ignored there,
// so the cost is linear.
inline constexpr size_t kMaxOverlap = 64;
std::vector<SymbolTable::Range> ResolveOverlaps(std::vector<RawSymbol>& symbols);

}  // namespace firetower::symbolizer
