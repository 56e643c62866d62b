// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/task_maps.h"

#include "base/check.h"
#include "daemon/capture/map_array.h"

namespace firetower::daemon {
namespace {

constexpr size_t kTasksBytes = sizeof(ft_task) * FT_TASK_SLOTS;
constexpr size_t kCpuSetsBytes = sizeof(ft_cpu_set) * FT_CPU_SETS;

static_assert(sizeof(ft_task) % 8 == 0 && sizeof(ft_cpu_set) % 8 == 0);

}  // namespace

TaskMaps::~TaskMaps() {
  if (tasks_ != nullptr) ::munmap(tasks_, kTasksBytes);
  if (cpu_sets_ != nullptr) ::munmap(cpu_sets_, kCpuSetsBytes);
}

Status TaskMaps::Open(int tasks_fd, int cpu_sets_fd) {
  RETURN_IF_ERROR(MapArray(tasks_fd, kTasksBytes, "map the verdicts on threads", tasks_));
  return MapArray(cpu_sets_fd, kCpuSetsBytes, "map the sets of CPUs", cpu_sets_);
}

void TaskMaps::Set(const ft_task& verdict) {
  ft_task& slot = tasks_[ft_task_slot(verdict.tid)];
  if (slot.tid == verdict.tid && slot.identity == verdict.identity &&
      slot.version == verdict.version && slot.left_out == verdict.left_out) {
    // A sample was under way when the verdict was set, or the same verdict holds in another cgroup.
    __atomic_store_n(&slot.gate_version, 0, __ATOMIC_RELEASE);
    return;
  }
  // No thread has id 0, so no reader uses the entry while it is half written.
  __atomic_store_n(&slot.tid, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&slot.identity, verdict.identity, __ATOMIC_RELEASE);
  __atomic_store_n(&slot.version, verdict.version, __ATOMIC_RELEASE);
  __atomic_store_n(&slot.left_out, verdict.left_out, __ATOMIC_RELEASE);
  // The kernel side has left out nothing by this one yet; versions of its gate begin at 1.
  __atomic_store_n(&slot.gate_version, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&slot.tid, verdict.tid, __ATOMIC_RELEASE);
}

void TaskMaps::Forget(uint32_t tid) {
  ft_task& slot = tasks_[ft_task_slot(tid)];
  if (slot.tid == tid) __atomic_store_n(&slot.tid, 0, __ATOMIC_RELEASE);
}

void TaskMaps::SetCpus(uint32_t index, const ft_cpu_set& cpus) {
  CHECK(index > 0 && index < FT_CPU_SETS);
  cpu_sets_[index] = cpus;
}

}  // namespace firetower::daemon
