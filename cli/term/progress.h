// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace firetower::cli {

// How far a long work is, on standard error: on a terminal one line that is written over, else a
// line every 5 s; nothing at all of what takes less than a second. Used by one thread.
class Progress {
 public:
  // "<verb> 12 of 100 <things>".
  Progress(std::string verb, std::string things, size_t total);
  // Takes the line away again.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Step(size_t done);

 private:
  const std::string verb_;
  const std::string things_;
  const size_t total_;
  const bool is_tty_;
  int64_t next_ns_;
  bool shown_ = false;
};

}  // namespace firetower::cli
