// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/capture/cpu_list.h"
#include "k8s/document/pattern.h"
#include "k8s/policy/policy.h"

namespace firetower::daemon {

// The facts about one thread that a filter uses.
struct TaskFacts {
  uint32_t pid = 0;
  std::string comm;  // of the process
  std::string thread;
  // Unset: not needed, or the process ended before it could be read.
  std::optional<std::string> executable;
  std::optional<std::string> command_line;
};

// The compiled `filter` of one policy. Immutable.
class PolicyFilter {
 public:
  explicit PolicyFilter(const k8s::FilterSpec& spec);

  // Tells whether its processes and threads include the task. CPUs are in cpus().
  bool WantsTask(const TaskFacts& facts) const;
  // Unset: all.
  const std::optional<CpuSet>& cpus() const { return cpus_; }
  // False: WantsTask is true for all tasks.
  bool any_tasks() const { return !processes_.empty() || !threads_.empty(); }
  bool reads_process() const { return reads_process_; }

 private:
  struct ProcessPattern {
    k8s::ProcessFilter wanted;
    std::optional<k8s::Pattern> command_line;
    bool Holds(const TaskFacts& facts) const;
  };

  std::vector<ProcessPattern> processes_;
  std::vector<std::string> threads_;
  std::optional<CpuSet> cpus_;
  bool reads_process_ = false;
};

// The filters of all policies for one container: a sample counts if any of them wants it.
// Immutable.
class TaskFilter {
 public:
  static constexpr size_t kMaxFilters = 64;

  // Makes a filter of at least one and at most kMaxFilters. Returns null for more policies; then
  // the container is profiled completely.
  static std::shared_ptr<const TaskFilter> Of(
      std::vector<std::shared_ptr<const PolicyFilter>> filters);

  // Tells whether two filters are equal, because they come from the same policies. Either may be
  // null.
  static bool Same(const TaskFilter* one, const TaskFilter* other);

  // Returns one bit for each filter that wants a thread, on any CPU. 0: no sample of it counts.
  uint64_t Match(const TaskFacts& facts) const;
  // Tells whether a sample on `cpu` counts, for a thread with this match.
  bool Accepts(uint64_t match, uint32_t cpu) const;

  // The CPUs that any of the filters wants; unset: all.
  const std::optional<CpuSet>& cpus() const { return cpus_; }
  // False: every thread matches.
  bool any_tasks() const { return any_tasks_; }
  // True: facts need the executable and the command line.
  bool reads_process() const { return reads_process_; }

 private:
  explicit TaskFilter(std::vector<std::shared_ptr<const PolicyFilter>> filters);

  std::vector<std::shared_ptr<const PolicyFilter>> filters_;
  std::optional<CpuSet> cpus_;
  bool any_tasks_ = true;
  bool reads_process_ = false;
};

}  // namespace firetower::daemon
