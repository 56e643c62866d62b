// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/clock.h"

namespace firetower::daemon {

// Classifies the file systems that processes have mounted, by device. The resolve thread opens and
// stats only files for which no server can block it: a FUSE or NFS server may never answer, and
// statfs(2) would ask it. Therefore mountinfo is read instead.
//
// Bounded by kMaxDevices. Kept for kKeepNs only, because device numbers are reused.
class FileSystems {
 public:
  enum class Kind : uint8_t {
    kMemory,  // tmpfs, ramfs, hugetlbfs, memory files
    kLocal,   // of this machine's disks, and overlays of those
    kOther,   // a server's, or not known
  };
  static constexpr size_t kMaxDevices = 4096;
  static constexpr int64_t kKeepNs = 60 * kNsPerSecond;

  FileSystems(std::string proc_root, const Clock& clock);

  // Returns the kind of `device` (major << 32 | minor), of which process `pid` has mapped a file.
  Kind Of(uint32_t pid, uint64_t device);

 private:
  void Learn(uint32_t pid);

  std::string proc_root_;
  const Clock& clock_;
  uint64_t memory_files_ = 0;  // the kernel's own mount, for memfd_create(2) and shmget(2)
  std::unordered_map<uint64_t, Kind> kinds_;
  int64_t since_ns_ = 0;
};

}  // namespace firetower::daemon
