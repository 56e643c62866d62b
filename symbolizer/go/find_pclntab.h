// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {

// The header of a Go program's table: by its section, or, where there are no such headers, by its
// magic number in data that is never written. kNotFound, kUnsupported: see Pclntab::Open.
Result<Pclntab::Layout> FindPclntab(const ElfFile& file);

}  // namespace firetower::symbolizer
