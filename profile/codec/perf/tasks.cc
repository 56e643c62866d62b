// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/perf/tasks.h"

#include <fmt/core.h>

#include <algorithm>

namespace firetower::profile {

void PerfTaskWatch::Add(const PerfHeader& header, bool clock) {
  // The idle tasks of all CPUs are 0, tasks that are gone are -1.
  if (are_processes_ || !header.tid || *header.tid <= 0 || header.pid) return;
  if (tasks_.size() >= kMaxTasks && !tasks_.contains(*header.tid)) return;
  const bool is_new = !tasks_.contains(*header.tid);
  Task& task = tasks_[*header.tid];
  const int64_t now_ns = header.time_ns.value_or(0);
  if (is_new) {
    task.name = header.comm;
    task.first_ns = now_ns;
  }
  if (header.comm != task.name) {
    // A thread may change its name, and never goes back to the one before.
    if (header.comm == task.name_before) are_processes_ = true;
    task.name_before = task.name;
    task.name = header.comm;
  }
  if (header.comm.size() > 1 && header.comm.front() == ':' &&
      header.comm.substr(1) != fmt::format("{}", *header.tid)) {
    are_processes_ = true;
  }
  if (!clock || !header.time_ns || !header.period) return;
  // A day: what is longer is no time on a CPU, and sums stay below 2^63.
  constexpr int64_t kMostNs = int64_t{86'400} * 1'000'000'000;
  if (*header.period > kMostNs) return;
  task.most_ns = std::max(task.most_ns, *header.period);
  task.spent_ns += *header.period;
  // Half more than what passed is more than any thread computes; some samples are for the ends.
  const int64_t passed_ns = std::clamp(now_ns - task.first_ns, int64_t{0}, 1000 * kMostNs);
  if (task.spent_ns > passed_ns + passed_ns / 2 + 4 * task.most_ns) are_processes_ = true;
  task.spent_ns = std::min(task.spent_ns, 10'000 * kMostNs);
}

}  // namespace firetower::profile
