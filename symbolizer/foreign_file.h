// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace firetower::symbolizer {

// Files at names that a profiled process chooses: it may put a device, a FIFO, a link or a pseudo
// file there, and opening those has effects of its own (an armed watchdog, a rewound tape, a lock
// on the kernel log). So the inode is taken without opening it (O_PATH), looked at, and only then
// opened, through /proc/self/fd, where nobody can exchange it any more.
//
// What is opened is a regular file of 1 to `max_bytes` bytes on a file system that keeps files, for
// reading and non-blocking: a lease's holder cannot hold us up. A FUSE server that does not answer
// can, as NFS can.
//
// Errors: kNotFound; kInvalid for what is not such a file, or is empty; kExhausted when it is
// larger; kPermission.

// At our own path, as /proc/<pid>/map_files/<range>, which names the mapped inode. Follows links.
Result<UniqueFd> OpenForeign(const std::string& path, uint64_t max_bytes);

enum class LastLink { kFollow, kRefuse };

// At `path` below `root`, which is our own path to it (/proc/<pid>/root). No link leads out of the
// root, and none into another process's magic links (openat2, Linux 5.6).
Result<UniqueFd> OpenForeignBelow(const std::string& root, const std::string& path,
                                  uint64_t max_bytes, LastLink last_link = LastLink::kFollow);

}  // namespace firetower::symbolizer
