// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/random_access.h"

namespace firetower::symbolizer {

// Files by their absolute path as the owner of an object sees them.
class FileTree {
 public:
  virtual ~FileTree() = default;
  virtual Result<FileSource> Open(const std::string& path) const = 0;
};

// The files of this machine, for programs of whoever asks.
class HostFiles : public FileTree {
 public:
  Result<FileSource> Open(const std::string& path) const override { return FileSource::Open(path); }
};

// ".build-id/ab/cdef.debug" below a folder of debug files; empty for what is no build id.
std::string BuildIdPath(std::string_view build_id_hex);

// Whether a file has the table that strip(1) takes away.
bool HasFullSymbols(const ElfFile& file);

// The separate debug file of an object at `path`, in GDB's order: by build id below /usr/lib/debug;
// then by .gnu_debuglink in the object's folder, in its .debug, and below /usr/lib/debug. A file is
// taken only if it has the build id, or the bytes have the link's CRC. kNotFound when none is.
Result<FileSource> FindDebugFile(const ElfFile& object, std::string_view path,
                                 const FileTree& files);

// A debug file by a build id alone.
Result<FileSource> FindDebugFile(std::string_view build_id_hex, const FileTree& files);

}  // namespace firetower::symbolizer
