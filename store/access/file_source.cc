// SPDX-License-Identifier: Apache-2.0
#include "store/access/file_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"

namespace firetower::store {

Result<FileSource> FileSource::Open(const std::string& path) {
  // O_NONBLOCK: open(2) of a FIFO waits for a writer otherwise.
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path, O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("stat " + path);
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::kInvalid, path + ": not a regular file");
  return FileSource(path, std::move(fd), static_cast<uint64_t>(info.st_size));
}

Status FileSource::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  return ReadExactAt(fd_.get(), offset, out).Context(path_);
}

}  // namespace firetower::store
