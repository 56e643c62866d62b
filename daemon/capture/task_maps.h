// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "bpf/abi/config.h"

namespace firetower::daemon {

// The kernel side's verdicts on threads and its sets of CPUs, written through mapped memory. Owned
// by one thread. The descriptors of both maps must stay open meanwhile.
class TaskMaps {
 public:
  TaskMaps() = default;
  ~TaskMaps();
  TaskMaps(const TaskMaps&) = delete;
  TaskMaps& operator=(const TaskMaps&) = delete;

  // Fails with kUnsupported or kExhausted, as mmap does.
  Status Open(int tasks_fd, int cpu_sets_fd);

  // Stores a verdict. Replaces another thread's verdict in the same slot.
  void Set(const ft_task& verdict);
  void Forget(uint32_t tid);
  // Stores a set of CPUs. `index` is 1 to FT_CPU_SETS - 1, and no verdict may name it yet.
  void SetCpus(uint32_t index, const ft_cpu_set& cpus);

 private:
  ft_task* tasks_ = nullptr;
  ft_cpu_set* cpu_sets_ = nullptr;
};

}  // namespace firetower::daemon
