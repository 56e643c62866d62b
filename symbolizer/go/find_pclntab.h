// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {

// Finds the header of a Go program's table: by its section, or without section headers by its magic
// number in constant data. kNotFound, kUnsupported: see Pclntab::Open.
Result<Pclntab::Layout> FindPclntab(const ElfFile& file);

}  // namespace firetower::symbolizer
