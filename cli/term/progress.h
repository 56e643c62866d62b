// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

#include "base/thread.h"

namespace firetower::cli {

// What there is to tell of a work.
struct ProgressState {
  std::string what;    // "merging", "asking http://127.0.0.1:7070"
  std::string things;  // "files"; not used where the total is not known
  size_t total = 0;    // 0: not known, and what is done are bytes
};

// "merging [######              ] 30 of 100 files, 3s", without the bar "merging 30 of 100 files,
// 3s"; of an unknown length "asking http://… 3s" and, once there are some, the bytes that came.
std::string ProgressLine(const ProgressState& state, size_t done, int64_t elapsed_ns, bool bar);

// How far a long work is, on standard error: on a terminal one line that is written over and in the
// end taken away, else a line every 5 s; nothing at all of what takes less than a second. A thread
// of its own writes it, so that also a wait for somebody else is told of.
class Progress {
 public:
  // Of so many things.
  Progress(std::string what, std::string things, size_t total);
  // Of unknown length.
  explicit Progress(std::string what);
  ~Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // From any thread.
  void Step(size_t done) { done_ = done; }

 private:
  explicit Progress(ProgressState state);
  void Run(const std::stop_token& stop, WakeFd& wake) const noexcept;

  const ProgressState state_;
  const bool is_tty_;
  std::atomic<size_t> done_ = 0;
  NamedThread thread_;  // the last: it uses the others
};

}  // namespace firetower::cli
