// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/foreign_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace firetower::symbolizer {

namespace {

// Numbers that linux/magic.h does not have; the kernel's sources do (fs/configfs/mount.c and
// fs/fuse/control.c).
constexpr uint32_t kConfigfsMagic = 0x62656570;
constexpr uint32_t kFusectlMagic = 0x65735543;

// File systems of the kernel: opening, reading or closing a regular file there may block or have
// side effects.
constexpr std::array<uint32_t, 20> kPseudoFileSystems = {
    PROC_SUPER_MAGIC,     SYSFS_MAGIC,         TRACEFS_MAGIC,        DEBUGFS_MAGIC,
    SECURITYFS_MAGIC,     SELINUX_MAGIC,       SMACK_MAGIC,          AAFS_MAGIC,
    CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC, RDTGROUP_SUPER_MAGIC, PSTOREFS_MAGIC,
    EFIVARFS_MAGIC,       BINFMTFS_MAGIC,      BPF_FS_MAGIC,         XENFS_SUPER_MAGIC,
    BINDERFS_SUPER_MAGIC, NSFS_MAGIC,          kConfigfsMagic,       kFusectlMagic,
};

Status CheckKind(int fd, uint64_t max_bytes) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoError("fstat");
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::kInvalid, "not a regular file");
  // Nothing to read, and what most pseudo files say of themselves, also on file systems that are
  // not known here.
  if (info.st_size <= 0) return Error(ErrorCode::kInvalid, "empty");
  if (static_cast<uint64_t>(info.st_size) > max_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("{} bytes, at most {} are read", info.st_size, max_bytes));
  }
  struct statfs file_system {};
  if (::fstatfs(fd, &file_system) != 0) return ErrnoError("fstatfs");
  auto magic = static_cast<uint32_t>(file_system.f_type);
  if (std::find(kPseudoFileSystems.begin(), kPseudoFileSystems.end(), magic) !=
      kPseudoFileSystems.end()) {
    return Error(ErrorCode::kInvalid, fmt::format("on a pseudo file system ({:#x})", magic));
  }
  return OkStatus();
}

// Opens for reading what `handle` (O_PATH) holds.
Result<UniqueFd> Reopen(const UniqueFd& handle, const std::string& name, uint64_t max_bytes) {
  RETURN_IF_ERROR(CheckKind(handle.get(), max_bytes).Context(name));
  std::string self = fmt::format("/proc/self/fd/{}", handle.get());
  UniqueFd fd(::open(self.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd) return ErrnoError("open " + name);
  return fd;
}

}  // namespace

Result<UniqueFd> OpenForeign(const std::string& path, uint64_t max_bytes) {
  UniqueFd handle(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!handle) return ErrnoError("open " + path);
  return Reopen(handle, path, max_bytes);
}

Result<UniqueFd> OpenForeignBelow(const std::string& root, const std::string& path,
                                  uint64_t max_bytes, LastLink last_link) {
  // Our own path up to `root`, which in /proc is a link into the process's mount namespace.
  UniqueFd dir(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!dir) return ErrnoError("open " + root);
  open_how how{};
  // With O_NOFOLLOW the link itself is what is looked at, and it is no regular file.
  how.flags = O_PATH | O_CLOEXEC | (last_link == LastLink::kRefuse ? O_NOFOLLOW : 0);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  long fd = ::syscall(SYS_openat2, dir.get(), path.c_str(), &how, sizeof(how));
  std::string name = root + "/" + path;
  if (fd < 0) return ErrnoError("open " + name);
  return Reopen(UniqueFd(static_cast<int>(fd)), name, max_bytes);
}

}  // namespace firetower::symbolizer
