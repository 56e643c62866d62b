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

// Bytes that can be read at any offset. Files are read with pread, never mapped: a mapped file that
// its owner truncates is a SIGBUS for the reader.
class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual uint64_t size() const = 0;
  // Fills `out` from `offset`; kCorrupt when the bytes end before.
  virtual Status ReadAt(uint64_t offset, std::span<std::byte> out) const = 0;
};

// A file held open. The size is taken once: a file that shrinks later reads as kCorrupt.
class FileSource : public RandomAccess {
 public:
  // `path` is opened read-only and must be a regular file.
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

// Memory owned by someone else, who must outlive this.
class MemorySource : public RandomAccess {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace firetower::symbolizer
