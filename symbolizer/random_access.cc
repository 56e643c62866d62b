// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/random_access.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cstring>

#include "base/file.h"

namespace firetower::symbolizer {

Result<FileSource> FileSource::Open(const std::string& path) {
  // O_NONBLOCK: a FIFO in the place of a library must not hang the reader.
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path, O_NONBLOCK | O_NOCTTY));
  return FromFd(std::move(fd)).Context(path);
}

Result<FileSource> FileSource::FromFd(UniqueFd fd) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("fstat");
  if (!S_ISREG(info.st_mode)) {
    return Error(ErrorCode::kInvalid, "not a regular file, so not an object file");
  }
  return FileSource(std::move(fd), static_cast<uint64_t>(info.st_size));
}

Status FileSource::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  return ReadExactAt(fd_.get(), offset, out);
}

Status MemorySource::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
    return Error(ErrorCode::kCorrupt, fmt::format("ends before byte {}+{}", offset, out.size()));
  }
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return OkStatus();
}

}  // namespace firetower::symbolizer
