// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "bpf/abi/config.h"
#include "daemon/capture/rounds/round.h"
#include "daemon/pipeline/resolver_peers.h"
#include "daemon/policy/task_filter.h"
#include "daemon/process/process_table.h"

namespace firetower::daemon {

// Decides which threads of a container with a filter are sampled. The first sample of a thread
// leads to a verdict, which is sent to the kernel side. A new name or a new program makes a thread
// undecided again. Owned by the resolve thread.
//
// Bounded by kMaxTasks and kMaxImages: beyond them all verdicts are forgotten and made again.
class TaskGate {
 public:
  static constexpr size_t kMaxTasks = 65536;
  static constexpr size_t kMaxImages = 16384;

  TaskGate(ProcessTable& processes, ResolverPeers& peers) : processes_(processes), peers_(peers) {}

  // Forgets all verdicts, because filters may have changed. The kernel side knows the version
  // already.
  void SetVersion(uint32_t version);
  // Tells whether a sample counts, whose type has a filter in `decisions`. `identity` is
  // ft_identity() of its process's image; if unset, the image is unknown and no verdict is sent to
  // the kernel side.
  bool Wants(const Decisions& decisions, const ft_sample& sample, std::optional<uint32_t> identity);
  // Returns the current facts that a filter needs, for a sample that has to wait for its container.
  TaskFacts FactsOf(uint32_t tgid, uint32_t tid, std::optional<uint32_t> identity,
                    bool reads_process);
  // Must be called after the process table has applied the event.
  void Apply(const SidebandEvent& event);

 private:
  struct Known {
    std::array<std::shared_ptr<const TaskFilter>, FT_TYPE_COUNT> filters;  // null: none
    uint32_t tgid = 0;
    uint32_t identity = 0;
    std::array<uint64_t, FT_TYPE_COUNT> match{};
  };
  // Facts that stay the same while a process runs one program.
  struct Image {
    uint32_t identity = 0;
    std::optional<std::string> executable;
    std::optional<std::string> command_line;
  };

  // Returns the matches of all types' filters.
  Known Match(const Decisions& decisions, const ft_sample& sample,
              std::optional<uint32_t> identity);
  static bool SameFilters(const Known& known, const Decisions& decisions);
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
