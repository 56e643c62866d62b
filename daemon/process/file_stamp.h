// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace firetower::daemon {

// Tells files apart that have one build id, as well as stat(2) can and without reading them: the
// linker leaves the symbol table out of the id, and strip(1) keeps it.
//
// The device counts only where it is a disk's or that of memory (tmpfs, ramfs, hugetlbfs, whose
// inode numbers are small and repeat). overlayfs and btrfs have a device for each mount or
// snapshot, so that it would make 300 files of one image's binary in 300 containers. Their inode is
// that of the one file below. The time of the last change (ctime) does not count: unlinking a
// running program changes it.
struct FileStamp {
  uint64_t device = 0;  // major << 32 | minor; 0 where it says nothing
  uint64_t inode = 0;
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

// Stats an open file. May wait for the server of a network file system. Errors: kInvalid for what
// is no regular file.
Result<FileStamp> ReadStamp(int fd);
// Stats a path, following links, and waits for nobody. The device is always set: whether it counts
// is for the caller to know. Errors: kNotFound, kPermission; kInvalid for what is no regular file.
Result<FileStamp> StatFile(const std::string& path);

// Text that is different for different stamps, for keys.
std::string ToText(const FileStamp& stamp);

}  // namespace firetower::daemon
