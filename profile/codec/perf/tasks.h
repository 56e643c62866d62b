// SPDX-License-Identifier: Apache-2.0
// Tells a column of threads from one of processes: -F tid and -F pid look the same.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "profile/codec/perf/head.h"

namespace firetower::profile {

// Sees the samples of a file in order, and says when a number cannot be that of one thread. Numbers
// beyond kMaxTasks are not looked at.
class PerfTaskWatch {
 public:
  static constexpr size_t kMaxTasks = 1u << 16;

  // `clock` when the period is in nanoseconds of this thread's time on a CPU.
  void Add(const PerfHeader& header, bool clock);
  // True when some number had two names in turns, more time than passed, or the name that perf
  // makes of another number.
  bool are_processes() const { return are_processes_; }

 private:
  struct Task {
    std::string_view name = {};
    std::string_view name_before = {};
    int64_t first_ns = 0;
    int64_t spent_ns = 0;
    int64_t most_ns = 0;
  };

  std::unordered_map<int64_t, Task> tasks_;
  bool are_processes_ = false;
};

}  // namespace firetower::profile
