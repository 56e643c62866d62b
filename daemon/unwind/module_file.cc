// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/module_file.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "daemon/process/proc_fs.h"
#include "symbolizer/elf/build_id.h"
#include "symbolizer/foreign_file.h"

namespace firetower::daemon {
namespace {

constexpr int kMaxAncestors = 4;

// Programs that carry their data along are the largest there are. Readers have bounds of their own
// for every section.
constexpr uint64_t kMaxModuleBytes = uint64_t{64} << 30;

bool SameInode(int fd, uint64_t inode) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_ino == inode;
}

// Compares with the line of /proc/<pid>/maps at that range. It shows the number that the kernel
// reported at the time of the mapping, even if overlayfs gives the opened file another one.
bool IsMapped(const std::string& proc_root, const MappedModule& mapped) {
  const Result<std::vector<MapsLine>> lines = ProcFs(proc_root).Maps(mapped.pid);
  return lines && std::ranges::any_of(*lines, [&](const MapsLine& line) {
           return line.start == mapped.start && line.end == mapped.end &&
                  line.inode == mapped.module->inode;
         });
}

// Tells whether the process runs another program by now, or is about to end: it has no mapping of
// the file any more.
bool HasLeft(const std::string& proc_root, const MappedModule& mapped) {
  const Result<std::vector<MapsLine>> lines = ProcFs(proc_root).AllMaps(mapped.pid);
  return lines && std::ranges::none_of(*lines, [&](const MapsLine& line) {
           return line.path == mapped.module->path;
         });
}

// Whether the module is that one of the files with its build id. By its path overlayfs may give a
// file another inode than by its mapping.
bool IsOfStamp(const Module& module, int fd, bool by_path) {
  if (module.stamp() == nullptr) return true;
  const Result<FileStamp> stamp = ReadStamp(fd);
  if (!stamp) return false;
  const FileStamp& wanted = *module.stamp();
  return stamp->inode == wanted.inode || (by_path && stamp->size_bytes == wanted.size_bytes &&
                                          stamp->modified_ns == wanted.modified_ns);
}

// Returns the file if it is the module's. A mapping alone is not proof: the process may have mapped
// another file there since, or may run another program by now. `is_mapped` is null for a file that
// was opened by its path.
std::optional<symbolizer::FileSource> Accept(const Module& module, UniqueFd fd, FileUse use,
                                             const std::function<bool()>& is_mapped) {
  if (module.build_id.empty() && !SameInode(fd.get(), module.inode) &&
      (is_mapped == nullptr || !is_mapped())) {
    return std::nullopt;
  }
  if (use == FileUse::kNames && !module.build_id.empty() &&
      !IsOfStamp(module, fd.get(), is_mapped == nullptr)) {
    return std::nullopt;
  }
  Result<symbolizer::FileSource> source = symbolizer::FileSource::FromFd(std::move(fd));
  if (!source) return std::nullopt;
  const Result<std::string> build_id = symbolizer::ReadBuildId(*source);
  if (!module.build_id.empty()) {
    if (!build_id || *build_id != module.build_id) return std::nullopt;
  } else if (build_id) {
    module.SetFoundBuildId(*build_id);
  }
  return *std::move(source);
}

// By any mapping that the process has of the file.
std::optional<symbolizer::FileSource> OpenOtherMapping(const std::string& proc_root,
                                                       const MappedModule& mapped, FileUse use) {
  const Result<std::vector<MapsLine>> lines = ProcFs(proc_root).AllMaps(mapped.pid);
  if (!lines) return std::nullopt;
  for (const MapsLine& line : *lines) {
    if (line.inode == 0 || line.path != mapped.module->path) continue;
    Result<UniqueFd> fd = symbolizer::OpenForeign(
        fmt::format("{}/{}/map_files/{:x}-{:x}", proc_root, mapped.pid, line.start, line.end),
        kMaxModuleBytes);
    if (!fd) continue;
    const auto is_mapped = [&] { return line.inode == mapped.module->inode; };
    return Accept(*mapped.module, *std::move(fd), use, is_mapped);
  }
  return std::nullopt;
}

}  // namespace

MappedModule MappedModule::LastSeen(std::shared_ptr<const Module> module) {
  MappedModule mapped;
  const uint64_t seen = module->seen_in.load(std::memory_order_relaxed);
  mapped.pid = static_cast<uint32_t>(seen >> 32);
  mapped.parent = static_cast<uint32_t>(seen);
  mapped.start = module->seen_start.load(std::memory_order_relaxed);
  mapped.end = module->seen_end.load(std::memory_order_relaxed);
  mapped.maybe_gone = true;
  mapped.module = std::move(module);
  return mapped;
}

Result<symbolizer::FileSource> OpenModuleFile(const std::string& proc_root,
                                              const MappedModule& mapped, FileUse use) {
  const Module& module = *mapped.module;
  std::string mapping =
      fmt::format("{}/{}/map_files/{:x}-{:x}", proc_root, mapped.pid, mapped.start, mapped.end);
  bool other = false;
  bool denied = false;
  Result<UniqueFd> mapped_fd = symbolizer::OpenForeign(mapping, kMaxModuleBytes);
  if (mapped_fd) {
    const auto is_mapped = [&] { return IsMapped(proc_root, mapped); };
    if (auto source = Accept(module, *std::move(mapped_fd), use, is_mapped))
      return *std::move(source);
    other = true;
  } else {
    denied = mapped_fd.error().code() == ErrorCode::kPermission;
  }
  // The range may be cut by now, or memory that its code was moved to.
  if (auto source = other ? std::nullopt : OpenOtherMapping(proc_root, mapped, use))
    return *std::move(source);
  const ProcessFiles files(proc_root, mapped);
  for (const std::string& root : files.roots()) {
    Result<UniqueFd> fd = symbolizer::OpenForeignBelow(root, module.path, kMaxModuleBytes);
    denied |= !fd && fd.error().code() == ErrorCode::kPermission;
    if (!fd) continue;
    if (auto source = Accept(module, *std::move(fd), use, nullptr)) return *std::move(source);
  }
  other |= HasLeft(proc_root, mapped);
  if (denied && !other) {
    return Error(ErrorCode::kPermission,
                 "the kernel refused to open " + module.path + " of its process or a parent");
  }
  return Error(other ? ErrorCode::kUnavailable : ErrorCode::kNotFound,
               "neither its process nor a parent shows " + module.path);
}

ProcessFiles::ProcessFiles(const std::string& proc_root, const MappedModule& mapped) {
  ProcFs proc(proc_root);
  uint32_t pid = mapped.pid;
  for (int i = 0; i < kMaxAncestors && pid != 0; ++i) {
    roots_.push_back(fmt::format("{}/{}/root", proc_root, pid));
    if (i == 0) {
      pid = mapped.parent;
      continue;
    }
    const Result<ProcessStat> stat = proc.Stat(pid);
    pid = stat ? stat->parent : 0;
  }
}

bool IsGone(const Error& error, const std::string& proc_root, uint32_t pid) {
  return error.code() == ErrorCode::kUnavailable ||
         ::access(fmt::format("{}/{}", proc_root, pid).c_str(), F_OK) != 0;
}

Result<symbolizer::FileSource> ProcessFiles::Open(const std::string& path) const {
  for (const std::string& root : roots_) {
    Result<UniqueFd> fd = symbolizer::OpenForeignBelow(root, path, kMaxModuleBytes);
    if (fd) return symbolizer::FileSource::FromFd(*std::move(fd));
  }
  return Error(ErrorCode::kNotFound, "neither its process nor a parent shows " + path);
}

}  // namespace firetower::daemon
