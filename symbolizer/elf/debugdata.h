// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "symbolizer/random_access.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {

// Unpacks `size` bytes of xz at `offset`: .gnu_debugdata holds a whole ELF file with the symbols
// that .dynsym lacks (GDB manual, "MiniDebugInfo"). kExhausted beyond the limits.
Result<std::vector<std::byte>> UnpackXz(const RandomAccess& source, uint64_t offset, uint64_t size,
                                        const LoadLimits& limits);

}  // namespace firetower::symbolizer
