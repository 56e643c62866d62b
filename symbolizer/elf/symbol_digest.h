// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"

namespace firetower::symbolizer {

// Computes the digest (SHA-256, lower-case hex) of everything in an ELF file that names can come
// from and that its build id may not cover: the program headers, which place them, the symbol table
// with its strings, .gnu_debugdata and .gnu_debuglink, and which other sections there are. Two
// files with one build id and one digest have the same names.
//
// The rest needs no reading. A linker hashes every section into the id that it has in memory then,
// which are all that are loaded (code, .eh_frame, .dynsym, .gopclntab) and DWARF, and strip(1)
// takes DWARF away whole. A cryptographic digest, since a container's owner chooses the file and
// shall not choose the names of another container.
//
// Costs nearly as much as loading the symbols (1.8 of 2.3 ms for 15,600 functions), so callers keep
// it by what stat(2) tells of the file.
Result<std::string> SymbolDigest(const ElfFile& file);

}  // namespace firetower::symbolizer
