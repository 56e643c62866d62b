// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.h"
#include "daemon/capture/families/alloc_programs.h"
#include "symbolizer/random_access.h"

namespace firetower::daemon {

// Returns the functions by which a program or library allocates and frees memory, each once: the
// malloc family of the C libraries, of jemalloc, tcmalloc and mimalloc, also under the prefixes
// under which programs link these, and the operators new and delete of a file that has its own
// malloc. Empty: the file is no allocator. A program's own symbol table is read as well, so that
// one that is linked statically has an allocator unless it is stripped. kCorrupt: the file is not
// what it says.
Result<std::vector<AllocatorFunction>> FindAllocator(const symbolizer::RandomAccess& file);

}  // namespace firetower::daemon
