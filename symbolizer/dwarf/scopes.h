// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbolizer/dwarf/unit.h"

namespace firetower::symbolizer::dwarf {

// A function, or a call that was inlined into one.
struct Scope {
  static constexpr uint32_t kNone = 0xffffffff;

  uint64_t entry = 0;       // where in .debug_info its name is, or a reference to it
  uint32_t parent = kNone;  // what it was inlined into; kNone: it is a function of its own
  uint32_t call_line = 0;   // of the call in the parent; 0 for functions
  uint16_t call_file = 0;   // in the unit's line table
  uint16_t call_column = 0;
};

// The code from `begin` to the next entry's `begin` belongs to this scope.
struct ScopeStart {
  uint64_t begin = 0;
  uint32_t scope = Scope::kNone;  // kNone: of none
};

struct ScopeTree {
  std::vector<Scope> scopes;
  std::vector<ScopeStart> starts;  // by address
};

// Walks a unit's entries and finds the innermost scope of every address. `unit_bytes` begin with
// the unit's first byte. An unreadable entry ends the walk; the scopes before it are valid.
ScopeTree ReadScopes(Units& units, const Unit& unit, std::span<const std::byte> unit_bytes,
                     const DwarfLimits& limits);

}  // namespace firetower::symbolizer::dwarf
