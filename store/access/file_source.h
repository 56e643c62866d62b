// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/store.h"

namespace firetower::store {

// A regular file. Bytes that are appended after Open are ignored.
class FileSource final : public ObjectSource {
 public:
  static Result<FileSource> Open(const std::string& path);

  uint64_t size() const override { return size_; }
  // kCorrupt: the file became shorter.
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override;

 private:
  FileSource(std::string path, UniqueFd fd, uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  std::string path_;
  UniqueFd fd_;
  uint64_t size_;
};

}  // namespace firetower::store
