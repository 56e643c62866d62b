// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/file_stamp.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/clock.h"

namespace firetower::daemon {
namespace {

bool IsMemory(const struct statfs& file_system) {
  const auto magic = static_cast<uint32_t>(file_system.f_type);
  return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC || magic == HUGETLBFS_MAGIC;
}

}  // namespace

Result<FileStamp> ReadStamp(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoError("fstat");
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::kInvalid, "not a regular file");
  FileStamp stamp;
  stamp.inode = info.st_ino;
  stamp.size_bytes = static_cast<uint64_t>(info.st_size);
  stamp.modified_ns = info.st_mtim.tv_sec * kNsPerSecond + info.st_mtim.tv_nsec;
  bool counts = major(info.st_dev) != 0;
  if (!counts) {
    struct statfs file_system {};
    counts = ::fstatfs(fd, &file_system) == 0 && IsMemory(file_system);
  }
  if (counts) stamp.device = uint64_t{major(info.st_dev)} << 32 | minor(info.st_dev);
  return stamp;
}

Result<FileStamp> StatFile(const std::string& path) {
  struct statx info {};
  // Takes the kernel's own copy, because a file server may never answer.
  if (::statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &info) != 0)
    return ErrnoError("stat " + path);
  if (!S_ISREG(info.stx_mode)) return Error(ErrorCode::kInvalid, "not a regular file");
  FileStamp stamp;
  stamp.device = uint64_t{info.stx_dev_major} << 32 | info.stx_dev_minor;
  stamp.inode = info.stx_ino;
  stamp.size_bytes = info.stx_size;
  stamp.modified_ns = info.stx_mtime.tv_sec * kNsPerSecond + info.stx_mtime.tv_nsec;
  return stamp;
}

std::string ToText(const FileStamp& stamp) {
  return fmt::format("{:x}:{}:{}:{}", stamp.device, stamp.inode, stamp.size_bytes,
                     stamp.modified_ns);
}

}  // namespace firetower::daemon
