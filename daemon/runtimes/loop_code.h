// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "symbolizer/cfi/fde_sweep.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

// The functions of a file by its call frame information, in order of address; where a distribution
// strips symbols, these remain. kNotFound: the file has none.
Result<std::vector<symbolizer::FdeRange>> FindFunctionRanges(const symbolizer::ElfFile& file);

// Returns the function that has an address; null if none has.
const symbolizer::FdeRange* FunctionAt(const std::vector<symbolizer::FdeRange>& functions,
                                       uint64_t elf_vaddr);

// Finds the part of a function that a compiler set apart as unlikely (`name.cold`): what most jumps
// out of it lead to. `code` is its code, at `elf_vaddr`. Null: it has no such part.
const symbolizer::FdeRange* FindPartSetApart(const std::vector<symbolizer::FdeRange>& functions,
                                             std::span<const std::byte> code, uint64_t elf_vaddr);

// Returns the target of a jump or call of 32 bits whose distance is at `at`, inside of `code`.
uint64_t TargetAt(std::span<const std::byte> code, size_t at, uint64_t elf_vaddr);

}  // namespace firetower::daemon
