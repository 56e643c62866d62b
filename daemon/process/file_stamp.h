// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace firetower::daemon {

// Distinguishes files with the same build id, as well as stat(2) can without reading them: the
// linker leaves the symbol table out of the id, and strip(1) keeps the id.
//
// The device counts only if it is a disk or memory (tmpfs, ramfs, hugetlbfs, whose inode numbers
// are small and repeat). overlayfs and btrfs have a device for each mount or snapshot, which would
// turn one image's binary in 300 containers into 300 files; its inode is that of the one underlying
// file. The time of the last change (ctime) does not count, because unlinking a running program
// changes it.
struct FileStamp {
  uint64_t device = 0;  // major << 32 | minor; 0 where it says nothing
  uint64_t inode = 0;
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

// Stats an open file. May wait for the server of a network file system. kInvalid: not a regular
// file.
Result<FileStamp> ReadStamp(int fd);
// Stats a path, following links, without waiting for a server. Always sets the device; the caller
// must know whether it counts. Errors: kNotFound, kPermission; kInvalid: not a regular file.
Result<FileStamp> StatFile(const std::string& path);

// Returns a text that is unique for each stamp, for keys.
std::string ToText(const FileStamp& stamp);

}  // namespace firetower::daemon
