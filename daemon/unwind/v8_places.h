// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bpf/abi/v8.h"
#include "daemon/process/proc_fs.h"
#include "daemon/process/process_table.h"
#include "daemon/runtimes/v8/v8_code.h"
#include "daemon/unwind/packed_table.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::daemon {

// Finds the part of a file that has V8's built-in functions: the largest one of its code that no
// row describes. Leaves `build` as it is where there is none of a likely size.
void FindBuiltins(const symbolizer::ElfFile& file, const PackedTable& table, V8Build& build);

// Returns what the walk needs of a process that maps `library`, which has that build: where its
// built-in functions lie, also those that V8 has mapped again beside what it compiles, and the
// memory that it compiles to.
ft_v8 PlaceV8(const std::vector<ProcessMapping>& mappings, uint32_t library, const V8Build& build);

// Finds the table that the functions' handles of their code are of, among all mappings of a
// process; nothing: it is not there yet, or not of a shape that is known. Nothing points to it that
// could be found by a name, but its reservation has a size of its own, and its entries point to
// code that points back.
std::optional<uint64_t> FindDispatchTable(const std::vector<MapsLine>& maps, const V8Heap& heap,
                                          const V8Build& build, const ft_v8& walk);

}  // namespace firetower::daemon
