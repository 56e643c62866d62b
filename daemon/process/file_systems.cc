// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/file_systems.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/file.h"
#include "base/unique_fd.h"

namespace firetower::daemon {
namespace {

constexpr std::array<std::string_view, 4> kMemoryTypes = {"tmpfs", "ramfs", "hugetlbfs",
                                                          "devtmpfs"};
constexpr std::array<std::string_view, 12> kLocalTypes = {
    "ext2", "ext3", "ext4",  "xfs",     "btrfs",    "f2fs",
    "zfs",  "vfat", "erofs", "iso9660", "squashfs", "overlay"};

constexpr uint32_t kFirstProcess = 1;

FileSystems::Kind KindOf(std::string_view type) {
  if (std::ranges::find(kMemoryTypes, type) != kMemoryTypes.end())
    return FileSystems::Kind::kMemory;
  if (std::ranges::find(kLocalTypes, type) != kLocalTypes.end()) return FileSystems::Kind::kLocal;
  return FileSystems::Kind::kOther;
}

std::string_view TakeWord(std::string_view& line) {
  const size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

// "8:1"; 0 if it is none.
uint64_t ParseDevice(std::string_view text) {
  uint32_t major = 0, minor = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return 0;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  return second.ec == std::errc() && second.ptr == end ? uint64_t{major} << 32 | minor : 0;
}

}  // namespace

FileSystems::FileSystems(std::string proc_root, const Clock& clock)
    : proc_root_(std::move(proc_root)), clock_(clock) {
  const UniqueFd fd(::memfd_create("firetower", MFD_CLOEXEC));
  struct stat info {};
  if (fd && ::fstat(fd.get(), &info) == 0)
    memory_files_ = uint64_t{major(info.st_dev)} << 32 | minor(info.st_dev);
}

FileSystems::Kind FileSystems::Of(uint32_t pid, uint64_t device) {
  if (device == memory_files_ && device != 0) return Kind::kMemory;
  const int64_t now_ns = clock_.MonotonicNs();
  if (kinds_.size() >= kMaxDevices || now_ns - since_ns_ >= kKeepNs) {
    kinds_.clear();
    since_ns_ = now_ns;
  }
  if (const auto known = kinds_.find(device); known != kinds_.end()) return known->second;
  Learn(pid);
  // The process may not show the device: before Linux 6.5, files of an overlay are those of the
  // layer below, whose disk is mounted on the machine and not in the container. The first process
  // shows the machine's mounts. A major number does not prove a disk, as FUSE has block devices too
  // (fuseblk of ntfs-3g), and a server that died would keep the resolve thread waiting for ever. So
  // a device that neither shows, of a file system that was unmounted lazily, is not known to be
  // local: its memory keeps the kind [jit], which costs names and stops nothing.
  if (!kinds_.contains(device) && pid != kFirstProcess) Learn(kFirstProcess);
  return kinds_.try_emplace(device, Kind::kOther).first->second;
}

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw", proc_pid_mountinfo(5).
void FileSystems::Learn(uint32_t pid) {
  const Result<std::string> text = ReadFile(fmt::format("{}/{}/mountinfo", proc_root_, pid));
  if (!text) return;
  for (std::string_view rest = *text; !rest.empty();) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    TakeWord(line);
    TakeWord(line);
    const uint64_t device = ParseDevice(TakeWord(line));
    const size_t type = line.find(" - ");
    if (device == 0 || type == std::string_view::npos) continue;
    line.remove_prefix(type + 3);
    if (kinds_.size() < kMaxDevices) kinds_[device] = KindOf(TakeWord(line));
  }
}

}  // namespace firetower::daemon
