// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/file_stamp.h"

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

// `stat_file_system` is called only where the device alone does not tell.
template <typename StatFileSystem>
Result<FileStamp> StampOf(const struct stat& info, const StatFileSystem& stat_file_system) {
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::kInvalid, "not a regular file");
  FileStamp stamp;
  stamp.inode = info.st_ino;
  stamp.size_bytes = static_cast<uint64_t>(info.st_size);
  stamp.modified_ns = info.st_mtim.tv_sec * kNsPerSecond + info.st_mtim.tv_nsec;
  bool counts = major(info.st_dev) != 0;
  if (!counts) {
    struct statfs file_system {};
    counts = stat_file_system(&file_system) == 0 && IsMemory(file_system);
  }
  if (counts) stamp.device = info.st_dev;
  return stamp;
}

}  // namespace

Result<FileStamp> ReadStamp(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return ErrnoError("stat " + path);
  return StampOf(info, [&](struct statfs* out) { return ::statfs(path.c_str(), out); });
}

Result<FileStamp> ReadStamp(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoError("fstat");
  return StampOf(info, [&](struct statfs* out) { return ::fstatfs(fd, out); });
}

std::string ToText(const FileStamp& stamp) {
  return fmt::format("{:x}:{}:{}:{}", stamp.device, stamp.inode, stamp.size_bytes,
                     stamp.modified_ns);
}

}  // namespace firetower::daemon
