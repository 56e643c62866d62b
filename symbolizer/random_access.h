// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace firetower::symbolizer {

// Source of bytes at any offset. Files are read with pread and never mapped: if the owner truncates
// a mapped file, the reader gets a SIGBUS.
class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual uint64_t size() const = 0;
  // Fills `out` from `offset`. kCorrupt: the bytes end earlier.
  virtual Status ReadAt(uint64_t offset, std::span<std::byte> out) const = 0;
};

// A file that is kept open. Its size is read once: a file that shrinks later reads as kCorrupt.
class FileSource : public RandomAccess {
 public:
  // Opens `path` read-only. It must be a regular file.
  static Result<FileSource> Open(const std::string& path);
  static Result<FileSource> FromFd(UniqueFd fd);

  uint64_t size() const override { return size_; }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override;
  int fd() const { return fd_.get(); }

 private:
  FileSource(UniqueFd fd, uint64_t size) : fd_(std::move(fd)), size_(size) {}
  UniqueFd fd_;
  uint64_t size_;
};

// Memory of another owner, who must outlive this.
class MemorySource : public RandomAccess {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace firetower::symbolizer
