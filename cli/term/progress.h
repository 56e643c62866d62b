// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

#include "base/thread.h"

namespace firetower::cli {

// The description of a long operation.
struct ProgressState {
  std::string what;    // "merging", "asking http://127.0.0.1:7070"
  std::string things;  // "files"; not used where the total is not known
  size_t total = 0;    // 0: unknown, and `done` counts bytes
};

// Returns "merging [######              ] 30 of 100 files, 3s", or without the bar "merging 30 of
// 100 files, 3s". For an unknown length returns "asking http://… 3s", followed by the number of
// received bytes, if any.
std::string ProgressLine(const ProgressState& state, size_t done, int64_t elapsed_ns, bool bar);

// Shows the progress of a long operation on standard error: on a terminal one line that is
// overwritten and finally removed, else one line every 5 s. Shows nothing in the first second. A
// thread of its own writes it, so that waiting for a server is shown too.
class Progress {
 public:
  // An operation on a known number of things.
  Progress(std::string what, std::string things, size_t total);
  // An operation of unknown length.
  explicit Progress(std::string what);
  ~Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // May be called from any thread.
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
