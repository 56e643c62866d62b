// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/perf/tasks.h"

#include <algorithm>

namespace firetower::profile {

void PerfTaskWatch::Add(const PerfHeader& header, bool clock) {
  // The idle tasks of all CPUs are 0, tasks that are gone are -1.
  if (spent_more_ || !header.tid || *header.tid <= 0 || header.pid) return;
  auto found = tasks_.find(*header.tid);
  if (found == tasks_.end()) {
    if (tasks_.size() >= kMaxTasks) return;
    found = tasks_.emplace(*header.tid, Task{}).first;
    found->second.name = header.comm;
    found->second.first_ns = header.time_ns.value_or(0);
  }
  ++found->second.samples;
  AddName(header.comm, &found->second);
  if (clock && header.time_ns && header.period) AddTime(header, &found->second);
}

void PerfTaskWatch::AddName(std::string_view name, Task* task) {
  if (name == task->name) return;
  ++task->changes;
  auto known = std::ranges::find(task->names_before, name);
  if (known != task->names_before.end()) {
    ++task->returns;
    *known = task->name;
  } else {
    task->names_before[task->changes % task->names_before.size()] = task->name;
  }
  task->name = name;
}

void PerfTaskWatch::AddTime(const PerfHeader& header, Task* task) {
  // A day: what is longer is no time on a CPU, and sums stay below 2^63.
  constexpr int64_t kMostNs = int64_t{86'400} * 1'000'000'000;
  if (*header.period > kMostNs) return;
  task->most_ns = std::max(task->most_ns, *header.period);
  task->spent_ns += *header.period;
  // Half more than what passed is more than any thread computes; some samples are for the ends.
  const int64_t passed_ns =
      std::clamp(*header.time_ns - task->first_ns, int64_t{0}, 1000 * kMostNs);
  spent_more_ = task->spent_ns > passed_ns + passed_ns / 2 + 4 * task->most_ns;
  task->spent_ns = std::min(task->spent_ns, 10'000 * kMostNs);
}

bool PerfTaskWatch::AnyChangedName() const {
  return std::ranges::any_of(tasks_, [](const auto& entry) { return entry.second.changes > 0; });
}

bool PerfTaskWatch::AreProcesses() const {
  return spent_more_ || std::ranges::any_of(tasks_, [](const auto& entry) {
           const Task& task = entry.second;
           const uint64_t changes = task.changes;
           if (task.returns >= 2 && changes * 4 >= task.samples) return true;
           // Few samples may each have a name of its own. A program that runs another one,
           // and that one a third, has three.
           return changes - task.returns >= 3 && changes * 2 >= task.samples;
         });
}

}  // namespace firetower::profile
