// SPDX-License-Identifier: Apache-2.0
// Tells a column of threads from one of processes: -F tid and -F pid look the same.
#pragma once

#include <array>
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
  // True when some number had more time on a CPU than passed, or names that take turns. A thread
  // changes its name now and then, and some go back to one: a quarter of the samples is more.
  bool AreProcesses() const;
  // True when one number came with two names, as that of a program does which runs another one.
  bool AnyChangedName() const;

 private:
  struct Task {
    std::string_view name = {};
    std::array<std::string_view, 4> names_before = {};
    uint32_t samples = 0;
    uint32_t changes = 0;
    uint32_t returns = 0;  // changes to one of the names before
    int64_t first_ns = 0;
    int64_t spent_ns = 0;
    int64_t most_ns = 0;
  };

  static void AddName(std::string_view name, Task* task);
  void AddTime(const PerfHeader& header, Task* task);

  std::unordered_map<int64_t, Task> tasks_;
  bool spent_more_ = false;
};

}  // namespace firetower::profile
