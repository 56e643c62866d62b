// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "daemon/trigger/metric_source.h"

namespace firetower::daemon {

// State that the files of one source share: the bytes last read, and how many may stay open. Beyond
// that a file is opened for each look, which costs some microseconds more.
struct ReadingBuffer {
  static constexpr size_t kMaxBytes = 1 << 20;  // /proc/stat of thousands of CPUs

  std::string bytes = std::string(16384, '\0');
  size_t descriptors_left = 512;
};

// A file of the kernel that is read over and over: opened once, and every read is from its start.
class CounterFile {
 public:
  CounterFile() = default;
  CounterFile(std::string path, ReadingBuffer& buffer) : path_(std::move(path)), buffer_(&buffer) {}
  CounterFile(CounterFile&& other) noexcept = default;
  CounterFile& operator=(CounterFile&&) = delete;
  ~CounterFile() { Close(); }

  // The text lies in the buffer, until the next Read of any file that shares it. kGone when there
  // is no such file, or the cgroup that it belonged to was removed.
  struct Text {
    NoReading missing = NoReading::kNone;
    std::string_view text;
    explicit operator bool() const { return missing == NoReading::kNone; }
  };
  Text Read();

  const std::string& path() const { return path_; }

 private:
  Text Fill(int fd);
  void Close();

  std::string path_;
  ReadingBuffer* buffer_ = nullptr;
  UniqueFd fd_;
};

}  // namespace firetower::daemon
