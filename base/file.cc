// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <memory>

namespace firetower {

Result<UniqueFd> OpenReadOnly(const std::string& path, int extra_flags) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | extra_flags));
  if (!fd) return ErrnoError("open " + path);
  return fd;
}

Result<std::string> ReadFd(int fd, size_t max_bytes) {
  std::string out;
  char chunk[16384];
  for (;;) {
    ssize_t n = ::read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("read");
    if (n == 0) return out;
    if (out.size() + static_cast<size_t>(n) > max_bytes) {
      return Error(ErrorCode::kExhausted, fmt::format("longer than {} bytes", max_bytes));
    }
    out.append(chunk, static_cast<size_t>(n));
  }
}

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  // O_NONBLOCK: open(2) of a FIFO waits for a writer otherwise.
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path, O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("stat " + path);
  if (!S_ISREG(info.st_mode)) {
    return Error(ErrorCode::kInvalid, path + ": not a regular file, so not read");
  }
  return ReadFd(fd.get(), max_bytes).Context(path);
}

Result<std::string> ReadFileOrPipe(const std::string& path, size_t max_bytes) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path));
  return ReadFd(fd.get(), max_bytes).Context(path);
}

Status ReadExactAt(int fd, uint64_t offset, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    ssize_t n =
        ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("pread");
    if (n == 0) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("file ends at {}, before {}", offset + done, offset + out.size()));
    }
    done += static_cast<size_t>(n);
  }
  return OkStatus();
}

Status WriteAll(int fd, std::string_view contents) {
  while (!contents.empty()) {
    ssize_t n = ::write(fd, contents.data(), contents.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("write");
    contents.remove_prefix(static_cast<size_t>(n));
  }
  return OkStatus();
}

namespace {

std::string Parent(const std::string& path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status SyncDirectory(const std::string& path) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path, O_DIRECTORY));
  if (::fsync(fd.get()) != 0) return ErrnoError("fsync " + path);
  return OkStatus();
}

constexpr std::string_view kTemporaryMark = ".tmp-";

template <typename T>
bool IsNumber(std::string_view text, T* out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

Status WriteAndSync(const std::string& path, const std::function<Status(int fd)>& fill,
                    unsigned mode) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd) return ErrnoError("create " + path);
  RETURN_IF_ERROR(fill(fd.get()).Context(path));
  if (::fsync(fd.get()) != 0) return ErrnoError("fsync " + path);
  return OkStatus();
}

}  // namespace

std::optional<pid_t> TemporaryFileOwner(std::string_view name) {
  // They end with a number; few names do.
  if (name.empty() || name.back() < '0' || name.back() > '9') return std::nullopt;
  size_t mark = name.rfind(kTemporaryMark);
  if (mark == 0 || mark == std::string_view::npos) return std::nullopt;
  std::string_view tail = name.substr(mark + kTemporaryMark.size());
  size_t dash = tail.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  pid_t pid = 0;
  unsigned serial = 0;
  bool ours = IsNumber(tail.substr(0, dash), &pid) && IsNumber(tail.substr(dash + 1), &serial);
  return ours && pid > 0 ? std::optional(pid) : std::nullopt;
}

Status WriteFileAtomic(const std::string& path, std::string_view contents, unsigned mode) {
  return WriteFileAtomic(
      path, [contents](int fd) { return WriteAll(fd, contents); }, mode);
}

Status WriteFileAtomic(const std::string& path, const std::function<Status(int fd)>& fill,
                       unsigned mode) {
  static std::atomic<unsigned> serial{0};
  std::string temporary = fmt::format("{}{}{}-{}", path, kTemporaryMark, ::getpid(), ++serial);
  Status status = WriteAndSync(temporary, fill, mode);
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoError("rename to " + path);
  }
  if (!status) {
    ::unlink(temporary.c_str());
    return status;
  }
  return SyncDirectory(Parent(path));
}

Status MakeDirectories(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string prefix = path.substr(0, slash);
    if (!prefix.empty() && ::mkdir(prefix.c_str(), 0755) != 0 && errno != EEXIST) {
      return ErrnoError("mkdir " + prefix);
    }
    if (slash == std::string::npos) break;
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return ErrnoError("stat " + path);
  if (!S_ISDIR(info.st_mode)) return ErrnoError(path, ENOTDIR);
  return OkStatus();
}

Result<std::vector<std::string>> ListDirectory(const std::string& path) {
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
  if (!dir) return ErrnoError("opendir " + path);
  std::vector<std::string> names;
  while (dirent* entry = ::readdir(dir.get())) {
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace firetower
