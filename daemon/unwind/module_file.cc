// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/module_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include "base/file.h"
#include "daemon/process/proc_fs.h"
#include "symbolizer/elf/build_id.h"

namespace firetower::daemon {
namespace {

constexpr int kMaxAncestors = 4;

// Opens `path` inside `root`, whose owner may have planted links: none leads out (openat2(2)).
UniqueFd OpenInRoot(const std::string& root, const std::string& path) {
  UniqueFd dir(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!dir) return UniqueFd();
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  long fd = ::syscall(SYS_openat2, dir.get(), path.c_str(), &how, sizeof(how));
  return UniqueFd(static_cast<int>(fd));
}

bool SameInode(int fd, uint64_t inode) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_ino == inode;
}

// The file, if it is the module's: one that was opened by its mapping is.
std::optional<symbolizer::FileSource> Accept(const Module& module, UniqueFd fd, bool must_verify) {
  if (!fd) return std::nullopt;
  if (must_verify && module.build_id.empty() && !SameInode(fd.get(), module.inode)) {
    return std::nullopt;
  }
  Result<symbolizer::FileSource> source = symbolizer::FileSource::FromFd(std::move(fd));
  if (!source) return std::nullopt;
  if (!must_verify && !module.build_id.empty()) return *std::move(source);
  Result<std::string> build_id = symbolizer::ReadBuildId(*source);
  if (must_verify && !module.build_id.empty() && (!build_id || *build_id != module.build_id)) {
    return std::nullopt;
  }
  if (build_id && module.build_id.empty()) module.SetFoundBuildId(*build_id);
  return *std::move(source);
}

}  // namespace

Result<symbolizer::FileSource> OpenModuleFile(const std::string& proc_root,
                                              const MappedModule& mapped) {
  const Module& module = *mapped.module;
  std::string mapping =
      fmt::format("{}/{}/map_files/{:x}-{:x}", proc_root, mapped.pid, mapped.start, mapped.end);
  if (Result<UniqueFd> fd = OpenReadOnly(mapping, O_NONBLOCK | O_NOCTTY)) {
    if (auto source = Accept(module, *std::move(fd), false)) return *std::move(source);
  }
  const ProcessFiles files(proc_root, mapped);
  for (const std::string& root : files.roots()) {
    if (auto source = Accept(module, OpenInRoot(root, module.path), true)) {
      return *std::move(source);
    }
  }
  return Error(ErrorCode::kNotFound, "neither its process nor a parent shows " + module.path);
}

ProcessFiles::ProcessFiles(const std::string& proc_root, const MappedModule& mapped) {
  ProcFs proc(proc_root);
  uint32_t pid = mapped.pid;
  for (int i = 0; i < kMaxAncestors && pid != 0; ++i) {
    roots_.push_back(fmt::format("{}/{}/root", proc_root, pid));
    pid = i == 0 ? mapped.parent : proc.Parent(pid);
  }
}

Result<symbolizer::FileSource> ProcessFiles::Open(const std::string& path) const {
  for (const std::string& root : roots_) {
    UniqueFd fd = OpenInRoot(root, path);
    if (fd) return symbolizer::FileSource::FromFd(std::move(fd));
  }
  return Error(ErrorCode::kNotFound, "neither its process nor a parent shows " + path);
}

}  // namespace firetower::daemon
