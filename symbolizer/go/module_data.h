// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/go/pclntab.h"

namespace firetower::symbolizer {

// The fields of Go's runtime.firstmoduledata that are needed to read the function table.
struct GoModuleData {
  uint64_t text_elf_vaddr = 0;      // functions' addresses count from here
  uint64_t funcdata_elf_vaddr = 0;  // "go:func.*"; 0 before Go 1.18, which has addresses instead
};

// Finds the record in a program's data by its first fields: pointers to the function table, which
// are relocations in a position-independent program. Errors are read errors only.
Result<std::optional<GoModuleData>> FindGoModuleData(const ElfFile& file,
                                                     const Pclntab::Layout& layout);

}  // namespace firetower::symbolizer
