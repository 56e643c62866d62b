// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "bpf/abi/config.h"

namespace firetower::daemon {

// The kernel side's verdicts on threads and its sets of CPUs, written through their memory. Owned
// by one thread; descriptors of the two maps must stay open for its life.
class TaskMaps {
 public:
  TaskMaps() = default;
  ~TaskMaps();
  TaskMaps(const TaskMaps&) = delete;
  TaskMaps& operator=(const TaskMaps&) = delete;

  // Errors: kUnsupported or kExhausted as mmap says.
  Status Open(int tasks_fd, int cpu_sets_fd);

  // Takes the place of another thread's verdict where the two share one.
  void Set(const ft_task& verdict);
  void Forget(uint32_t tid);
  // `index`: 1 to FT_CPU_SETS - 1. For one that no verdict names yet.
  void SetCpus(uint32_t index, const ft_cpu_set& cpus);

 private:
  ft_task* tasks_ = nullptr;
  ft_cpu_set* cpu_sets_ = nullptr;
};

}  // namespace firetower::daemon
