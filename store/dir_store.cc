// SPDX-License-Identifier: Apache-2.0
#include "store/dir_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "store/key.h"

namespace firetower::store {
namespace {

namespace fs = std::filesystem;

// No Put takes this long; covers a pid that was given out again (in a container it is always 1).
constexpr time_t kAbandonedAfterSeconds = 60;
constexpr uint64_t kCopyBytes = 256 << 10;  // of a source at a time

bool IsAbandoned(const std::string& path, pid_t writer) {
  if (::kill(writer, 0) != 0 && errno == ESRCH) return true;
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 &&
         info.st_mtime < ::time(nullptr) - kAbandonedAfterSeconds;
}

struct DirEntry {
  std::string name;  // of a folder with a trailing '/', which puts it where its keys sort
  bool is_folder = false;
};

// Folders and regular files, in the order of the keys below them. Links are not followed.
Result<std::vector<DirEntry>> ReadSorted(const std::string& path) {
  std::error_code error;
  std::vector<DirEntry> entries;
  fs::directory_iterator at(path, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::string name = at->path().filename().string();
    std::error_code ignored;
    fs::file_type type = at->symlink_status(ignored).type();
    if (type == fs::file_type::directory) entries.push_back({name + '/', true});
    if (type == fs::file_type::regular && !TemporaryFileOwner(name))
      entries.push_back({name, false});
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoError("list " + path, error.value());
  }
  std::ranges::sort(entries, {}, &DirEntry::name);
  return entries;
}

// One listing; `key` is the path below the root so far, ending in '/' or empty.
class Lister {
 public:
  Lister(const std::string& root, std::string_view prefix, std::string_view start_after,
         size_t limit)
      : root_(root), prefix_(prefix), start_after_(start_after), limit_(limit) {}

  Status Walk(const std::string& folder) {
    if (folder.size() > kMaxKeyBytes) return OkStatus();  // deeper than any key
    ASSIGN_OR_RETURN(std::vector<DirEntry> entries, ReadSorted(root_ + '/' + folder));
    for (const DirEntry& entry : entries) {
      if (found_.size() >= limit_) return OkStatus();
      std::string key = folder + entry.name;
      if (entry.is_folder) {
        bool may_hold_prefix = key.starts_with(prefix_) || prefix_.starts_with(key);
        bool all_before = key < start_after_ && !start_after_.starts_with(key);
        if (may_hold_prefix && !all_before) RETURN_IF_ERROR(Walk(key));
        continue;
      }
      if (!key.starts_with(prefix_) || key <= start_after_) continue;
      struct stat info {};
      if (::stat((root_ + '/' + key).c_str(), &info) != 0) continue;  // just deleted
      found_.push_back({std::move(key), static_cast<uint64_t>(info.st_size)});
    }
    return OkStatus();
  }
  std::vector<ObjectInfo> Take() && { return std::move(found_); }

 private:
  const std::string& root_;
  std::string_view prefix_;
  std::string_view start_after_;
  size_t limit_;
  std::vector<ObjectInfo> found_;
};

unsigned FileMode(DirAccess access) { return access == DirAccess::kGroup ? 0640 : 0600; }
unsigned FolderMode(DirAccess access) { return access == DirAccess::kGroup ? 0750 : 0700; }

// The root, and its parents as others expect them.
Status MakeRoot(const std::string& root, unsigned mode) {
  const std::string parent = root.substr(0, root.rfind('/'));
  if (!parent.empty()) RETURN_IF_ERROR(MakeDirectories(parent));
  if (::mkdir(root.c_str(), mode) != 0 && errno != EEXIST) return ErrnoError("mkdir " + root);
  return MakeDirectories(root);  // that it is one
}

// Creates the folders between `root` and the file, each made durable in its parent.
Status MakeParents(const std::string& root, const std::string& path, unsigned mode) {
  for (size_t slash = path.find('/', root.size() + 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), mode) != 0) {
      if (errno == EEXIST) continue;
      return ErrnoError("mkdir " + folder);
    }
    std::string parent = folder.substr(0, folder.rfind('/'));
    ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(parent.empty() ? "/" : parent, O_DIRECTORY));
    if (::fsync(fd.get()) != 0) return ErrnoError("fsync " + parent);
  }
  return OkStatus();
}

size_t Sweep(const std::string& root) {
  size_t removed = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    std::optional<pid_t> writer = TemporaryFileOwner(at->path().filename().string());
    if (!writer || !at->is_regular_file(ignored)) continue;
    std::string path = at->path().string();
    if (IsAbandoned(path, *writer) && ::unlink(path.c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace

Result<std::unique_ptr<DirStore>> DirStore::Open(std::string root, DirAccess access) {
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  if (!root.starts_with('/') || root == "/") {
    return Error(ErrorCode::kInvalid,
                 fmt::format("store directory \"{}\" must be an absolute path below /", root));
  }
  RETURN_IF_ERROR(MakeRoot(root, FolderMode(access)).Context("store"));
  std::unique_ptr<DirStore> store(new DirStore(std::move(root), access));
  store->swept_files_ = Sweep(store->root_);
  return store;
}

Result<std::string> DirStore::PathOf(std::string_view key) const {
  RETURN_IF_ERROR(CheckKey(key));
  return root_ + '/' + std::string(key);
}

Status DirStore::Put(std::string_view key, std::string_view bytes) {
  ASSIGN_OR_RETURN(std::string path, PathOf(key));
  return WriteInFolders(path, [&] { return WriteFileAtomic(path, bytes, FileMode(access_)); });
}

Status DirStore::PutFrom(std::string_view key, const ObjectSource& source) {
  ASSIGN_OR_RETURN(std::string path, PathOf(key));
  auto copy = [&](int fd) -> Status {
    std::string chunk(std::min<uint64_t>(kCopyBytes, source.size()), '\0');
    for (uint64_t at = 0; at < source.size(); at += chunk.size()) {
      chunk.resize(std::min<uint64_t>(chunk.size(), source.size() - at));
      RETURN_IF_ERROR(source.ReadAt(at, std::as_writable_bytes(std::span(chunk))));
      RETURN_IF_ERROR(WriteAll(fd, chunk));
    }
    return OkStatus();
  };
  return WriteInFolders(path, [&] { return WriteFileAtomic(path, copy, FileMode(access_)); });
}

Status DirStore::WriteInFolders(const std::string& path, const std::function<Status()>& write) {
  std::shared_lock hold(folders_);
  // Another process may take away a folder that has just become empty: make it again.
  constexpr int kTries = 3;
  Status status;
  for (int i = 0; i < kTries; ++i) {
    status = MakeParents(root_, path, FolderMode(access_));
    if (status) status = write();
    if (status || status.error().sys_errno() != ENOENT) break;
  }
  return std::move(status.Context("store"));
}

Result<std::string> DirStore::Get(std::string_view key, uint64_t max_bytes) const {
  ASSIGN_OR_RETURN(std::string path, PathOf(key));
  return ReadFile(path, max_bytes);
}

Result<std::string> DirStore::GetRange(std::string_view key, uint64_t offset,
                                       uint64_t length) const {
  ASSIGN_OR_RETURN(std::string path, PathOf(key));
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path, O_NONBLOCK));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("stat " + path);
  auto size = static_cast<uint64_t>(info.st_size);
  // Before the memory is asked for.
  if (offset > size || length > size - offset) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}: {} bytes at {} of a file of {}", path, length, offset, size));
  }
  std::string bytes(length, '\0');
  RETURN_IF_ERROR(ReadExactAt(fd.get(), offset, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

Result<ObjectTail> DirStore::GetTail(std::string_view key, uint64_t length) const {
  ASSIGN_OR_RETURN(std::string path, PathOf(key));
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path, O_NONBLOCK));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("stat " + path);
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::kNotFound, path + ": not an object");
  auto size = static_cast<uint64_t>(info.st_size);
  ObjectTail tail{.bytes = std::string(std::min(length, size), '\0'), .object_size = size};
  RETURN_IF_ERROR(ReadExactAt(fd.get(), size - tail.bytes.size(),
                              std::as_writable_bytes(std::span(tail.bytes))));
  return tail;
}

Result<uint64_t> DirStore::Size(std::string_view key) const {
  ASSIGN_OR_RETURN(std::string path, PathOf(key));
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return ErrnoError("stat " + path);
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::kNotFound, path + ": not an object");
  return static_cast<uint64_t>(info.st_size);
}

Result<std::vector<ObjectInfo>> DirStore::List(std::string_view prefix,
                                               std::string_view start_after, size_t limit) const {
  std::string folder(prefix.substr(0, prefix.rfind('/') + 1));
  if (!folder.empty()) RETURN_IF_ERROR(CheckKey(folder + 'x'));
  Lister lister(root_, prefix, start_after, limit);
  RETURN_IF_ERROR(lister.Walk(folder));
  return std::move(lister).Take();
}

Result<std::vector<std::string>> DirStore::ListFolders(std::string_view prefix) const {
  if (!prefix.empty()) RETURN_IF_ERROR(CheckKey(std::string(prefix) + 'x'));
  ASSIGN_OR_RETURN(std::vector<DirEntry> entries, ReadSorted(root_ + '/' + std::string(prefix)));
  std::vector<std::string> folders;
  for (DirEntry& entry : entries) {
    if (!entry.is_folder) continue;
    entry.name.pop_back();
    folders.push_back(std::move(entry.name));
  }
  return folders;
}

Status DirStore::Delete(std::string_view key) {
  ASSIGN_OR_RETURN(std::string path, PathOf(key));
  if (::unlink(path.c_str()) != 0) {
    return errno == ENOENT ? OkStatus() : Status(ErrnoError("delete " + path));
  }
  RemoveEmptyFolders(path);
  return OkStatus();
}

void DirStore::RemoveEmptyFolders(const std::string& path) {
  std::unique_lock hold(folders_);
  // rmdir refuses a folder that is not empty: that ends the climb.
  for (size_t slash = path.rfind('/'); slash > root_.size(); slash = path.rfind('/', slash - 1)) {
    if (::rmdir(path.substr(0, slash).c_str()) != 0) break;
  }
}

Status DirStore::MoveTo(DirStore& to, std::string_view key) {
  ASSIGN_OR_RETURN(const std::string from_path, PathOf(key));
  ASSIGN_OR_RETURN(const std::string to_path, to.PathOf(key));
  {
    std::shared_lock hold(to.folders_);
    RETURN_IF_ERROR(MakeParents(to.root_, to_path, FolderMode(to.access_)).Context("store"));
    if (::rename(from_path.c_str(), to_path.c_str()) != 0)
      return ErrnoError("rename " + from_path + " to " + to_path);
  }
  RemoveEmptyFolders(from_path);
  return OkStatus();
}

Status DirStore::Check() const {
  // Also what a file system that is gone, or read-only, says.
  if (::access(root_.c_str(), R_OK | W_OK | X_OK) != 0) {
    return ErrnoError("store directory " + root_ + " cannot be read and written");
  }
  return OkStatus();
}

}  // namespace firetower::store
