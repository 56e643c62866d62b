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

// Facts about one thread that a filter decides by.
struct TaskFacts {
  uint32_t pid = 0;
  std::string comm;  // of the process
  std::string thread;
  // Unset: not asked for, or the process was gone before it could be read.
  std::optional<std::string> executable;
  std::optional<std::string> command_line;
};

// `filter` of one policy, compiled. Immutable.
class PolicyFilter {
 public:
  explicit PolicyFilter(const k8s::FilterSpec& spec);

  // Its processes and threads; its CPUs are for cpus() to say.
  bool WantsTask(const TaskFacts& facts) const;
  // Unset: all.
  const std::optional<CpuSet>& cpus() const { return cpus_; }
  // False: WantsTask is true for all.
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

// The filters of all policies that want one container: what any of them wants counts. Immutable.
class TaskFilter {
 public:
  static constexpr size_t kMaxFilters = 64;

  // At most kMaxFilters, and at least one; unset where more policies than that want a container: it
  // is profiled whole.
  static std::shared_ptr<const TaskFilter> Of(
      std::vector<std::shared_ptr<const PolicyFilter>> filters);

  // Whether two say the same, because they are of the same policies. Either may be unset.
  static bool Same(const TaskFilter* one, const TaskFilter* other);

  // Which of the filters want a thread, wherever it runs: one bit each. 0: no sample of it counts.
  uint64_t Match(const TaskFacts& facts) const;
  // Whether a sample on `cpu` of a thread with this match counts.
  bool Accepts(uint64_t match, uint32_t cpu) const;

  // The CPUs that any of the filters wants; unset: all.
  const std::optional<CpuSet>& cpus() const { return cpus_; }
  // False: every thread matches.
  bool any_tasks() const { return any_tasks_; }
  // True: facts shall have executable and command line.
  bool reads_process() const { return reads_process_; }

 private:
  explicit TaskFilter(std::vector<std::shared_ptr<const PolicyFilter>> filters);

  std::vector<std::shared_ptr<const PolicyFilter>> filters_;
  std::optional<CpuSet> cpus_;
  bool any_tasks_ = true;
  bool reads_process_ = false;
};

}  // namespace firetower::daemon
