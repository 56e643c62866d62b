// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace firetower::symbolizer {

// Opens files whose names a profiled process chooses. It may put a device, a FIFO, a link or a
// pseudo file there, and opening those has side effects (it arms a watchdog, rewinds a tape or
// locks the kernel log). So the inode is taken without opening it (O_PATH), examined, and only then
// opened through /proc/self/fd, where nobody can exchange it any more.
//
// Only a regular file of 1 to `max_bytes` bytes on a file system that stores files is opened, for
// reading and non-blocking, so that the holder of a lease cannot block us. A FUSE server that does
// not answer can block us, and so can NFS.
//
// Errors: kNotFound; kInvalid: not such a file, or empty; kExhausted: it is larger; kPermission.

// Opens a path of our own, such as /proc/<pid>/map_files/<range>, which names the mapped inode.
// Follows links.
Result<UniqueFd> OpenForeign(const std::string& path, uint64_t max_bytes);

enum class LastLink { kFollow, kRefuse };

// Opens `path` below `root`, our path to another process's root (/proc/<pid>/root). No link leads
// out of the root or into another process's magic links (openat2, Linux 5.6).
Result<UniqueFd> OpenForeignBelow(const std::string& root, const std::string& path,
                                  uint64_t max_bytes, LastLink last_link = LastLink::kFollow);

}  // namespace firetower::symbolizer
