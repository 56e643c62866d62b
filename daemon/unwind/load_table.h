// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "daemon/unwind/packed_table.h"
#include "symbolizer/random_access.h"

namespace firetower::daemon {

// Compiles the unwind table of an ELF file or image. Returns an empty table if the file describes
// no code, and an error if it is not an ELF file or cannot be read. Memory: the table, the file's
// sorted list of functions and a window of its section.
Result<PackedTable> LoadUnwindTable(const symbolizer::RandomAccess& source);

// Compiles the table of the vdso that every process of this kernel maps.
Result<PackedTable> LoadVdsoTable();

}  // namespace firetower::daemon
