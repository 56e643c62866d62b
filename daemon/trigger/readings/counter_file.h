// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "daemon/trigger/metric_source.h"

namespace firetower::daemon {

// State shared by the files of one source: the bytes last read, and the number of files that may
// stay open. Further files are opened for each read, which costs some microseconds more.
struct ReadingBuffer {
  static constexpr size_t kMaxBytes = 1 << 20;  // /proc/stat of thousands of CPUs

  std::string bytes = std::string(16384, '\0');
  size_t descriptors_left = 512;
};

// A kernel file that is read repeatedly: it is opened once, and every read starts at its beginning.
class CounterFile {
 public:
  CounterFile() = default;
  CounterFile(std::string path, ReadingBuffer& buffer) : path_(std::move(path)), buffer_(&buffer) {}
  CounterFile(CounterFile&& other) noexcept = default;
  CounterFile& operator=(CounterFile&&) = delete;
  ~CounterFile() { Close(); }

  // The text stays in the buffer until the next Read of a file that shares it. kGone: there is no
  // such file, or its cgroup was removed.
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
