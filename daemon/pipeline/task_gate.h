// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "bpf/abi/config.h"
#include "daemon/capture/round.h"
#include "daemon/pipeline/resolver_peers.h"
#include "daemon/policy/task_filter.h"
#include "daemon/process/process_table.h"

namespace firetower::daemon {

// Decides which threads of a container with a filter are sampled, when a first sample of each has
// come, and tells the kernel side, which asks no more. A change of its name or a new program makes
// a thread undecided again. Owned by the resolve thread.
//
// Bounded by kMaxTasks and kMaxImages: beyond them all are decided anew.
class TaskGate {
 public:
  static constexpr size_t kMaxTasks = 65536;
  static constexpr size_t kMaxImages = 16384;

  TaskGate(ProcessTable& processes, ResolverPeers& peers) : processes_(processes), peers_(peers) {}

  // Other filters may hold now; the kernel side was told of the version.
  void SetVersion(uint32_t version);
  // Whether a sample counts. `identity`: ft_identity() of its process's image; unset: not known,
  // and then the kernel side is told nothing.
  bool Wants(const std::shared_ptr<const TaskFilter>& filter, const ft_sample& sample,
             std::optional<uint32_t> identity);
  // What a filter looks at, as it is now; for a sample that has to wait for its container.
  TaskFacts FactsOf(uint32_t tgid, uint32_t tid, std::optional<uint32_t> identity,
                    bool reads_process);
  // After the process table took it over.
  void Apply(const SidebandEvent& event);

 private:
  struct Known {
    std::shared_ptr<const TaskFilter> filter;
    uint32_t tgid = 0;
    uint32_t identity = 0;
    uint64_t match = 0;
  };
  // What stays as it is while a process runs one program.
  struct Image {
    uint32_t identity = 0;
    std::optional<std::string> executable;
    std::optional<std::string> command_line;
  };

  void Remember(uint32_t tid, Known known);
  void Tell(uint32_t tid, const Known& known);
  void Forget(uint32_t tid);
  void ForgetProcess(uint32_t tgid);

  ProcessTable& processes_;
  ResolverPeers& peers_;
  uint32_t version_ = 0;
  std::unordered_map<uint32_t, Known> tasks_;                           // by thread id
  std::unordered_map<uint32_t, std::unordered_set<uint32_t>> threads_;  // of tasks_, by process id
  std::unordered_map<uint32_t, Image> images_;                          // by process id
};

}  // namespace firetower::daemon
