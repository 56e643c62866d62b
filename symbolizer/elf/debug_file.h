// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/random_access.h"

namespace firetower::symbolizer {

// Files by their absolute path, as the owner of an object sees them.
class FileTree {
 public:
  virtual ~FileTree() = default;
  virtual Result<FileSource> Open(const std::string& path) const = 0;
};

// The files of this machine, for objects that its own programs use.
class HostFiles : public FileTree {
 public:
  Result<FileSource> Open(const std::string& path) const override { return FileSource::Open(path); }
};

// Returns ".build-id/ab/cdef.debug", relative to a folder of debug files; empty for an invalid
// build id.
std::string BuildIdPath(std::string_view build_id_hex);

// Tells whether a file has .symtab, the table that strip(1) removes.
bool HasFullSymbols(const ElfFile& file);

// Finds the separate debug file of an object at `path`, in GDB's order: by build id below
// /usr/lib/debug; then by .gnu_debuglink in the object's folder, in its .debug, and below
// /usr/lib/debug. Accepts a file only if it has the build id or the link's CRC. kNotFound: there is
// none.
Result<FileSource> FindDebugFile(const ElfFile& object, std::string_view path,
                                 const FileTree& files);

// Finds a debug file by build id alone.
Result<FileSource> FindDebugFile(std::string_view build_id_hex, const FileTree& files);

}  // namespace firetower::symbolizer
