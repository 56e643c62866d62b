// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "daemon/capture/round.h"
#include "daemon/pipeline/cold_stacks.h"
#include "daemon/pipeline/resolver_peers.h"
#include "daemon/pipeline/slice_builder.h"
#include "daemon/pipeline/stack_store.h"
#include "daemon/pipeline/task_gate.h"
#include "daemon/policy/selection.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/process/module.h"
#include "daemon/process/process_table.h"
#include "daemon/unwind/unwinder.h"

namespace firetower::daemon {

struct LabelChoice {
  bool thread = true;
  bool comm = true;
  bool cpu = false;
};

// Turns rounds into slices: applies the kernel's stream to the tables in time order, attributes
// each sample to its container and converts addresses into (module, offset). Owned by the resolve
// thread.
//
// A sample of an unknown cgroup is kept, resolved, for kPendingNs, while the tree is read again;
// then it counts as unknown. At most kMaxPending samples wait.
class Resolver {
 public:
  static constexpr int64_t kPendingNs = 30 * kNsPerSecond;
  static constexpr size_t kMaxPending = 20000;

  Resolver(ModuleRegistry& modules, ProcessTable& processes, CgroupTree& cgroups,
           Unwinder& unwinder, ResolverPeers& peers, const Clock& clock, LabelChoice labels,
           size_t stack_words = StackStore::kMaxWords);

  void SetSelection(std::shared_ptr<const Selection> selection);
  // Applies a round, as far as its samples belong to this slice. Returns the time (monotonic) of
  // the first that belongs to the next one: take the builder's slice, set the next end, and call it
  // again with the same round. Nothing: the round is through.
  std::optional<int64_t> Process(const Round& round);
  // Samples from this time on (monotonic) go to the next slice.
  void SetSliceEnd(int64_t time_ns) { slice_end_ns_ = time_ns; }
  // Takes the answer to a request for an unwind table.
  void TakeTable(LoadedTable table);
  // Retries pending samples. Must be called about once a second. `last`: no sample may wait any
  // longer.
  void Tick(bool last = false);

  SliceBuilder& builder() { return builder_; }
  const StackStore& stacks() const { return stacks_; }
  size_t pending() const { return pending_.size(); }
  uint64_t not_selected() const { return not_selected_; }
  // The number of invalid records in rounds.
  uint64_t bad_records() const { return bad_records_; }

 private:
  struct Pending {
    uint64_t cgroup_id = 0;
    int64_t since_ns = 0;
    int64_t time_ns = 0;  // of the sample
    uint64_t value = 0;
    TaskLabel label;
    uint8_t stop = 0;
    uint8_t kernel_frames = 0;  // the first of `frames`
    uint16_t cpu = 0;
    std::vector<Frame> frames;
    TaskFacts facts;  // where a filter is in force
  };
  struct Known {
    Decision decision;
    uint32_t version = 0;
  };

  // How far a round is applied.
  struct Position {
    size_t sample = 0;
    size_t cgroup = 0;
    size_t sideband = 0;
    bool slice_ended = false;  // `sample` is the first of the next slice
  };

  void BeginRound(const Round& round);
  void EndRound(const Round& round);
  // Takes the samples before that time. False: the next one belongs to the next slice.
  bool TakeSamples(const Round& round, int64_t before_ns);
  void OnSample(const ft_sample& sample, const Round& round);
  // Tells whether a container with that decision wants the sample, and counts the sample if not.
  bool Wants(const Decision& decision, const ft_sample& sample);
  bool Wants(const Decision& decision, const Pending& pending);
  // Returns the facts that a filter needs once the container is known.
  TaskFacts FactsOf(const ft_sample& sample);
  // Handles a cold sample, whose walk the kernel side has left to us.
  void OnCold(const ft_sample& sample, const StackStore::Body& body, const Round& round);
  void TakeFinished();
  void OnCgroup(const CgroupEvent& event, std::string_view path);
  void AddSample(const CgroupNode& node, uint32_t stack, uint32_t label, uint64_t value,
                 int64_t time_ns, uint8_t stop);
  const Decision& DecisionOf(const CgroupNode& node);
  void GateAll();
  void DecideTasksAnew();
  // Resolves a stack into frames_. Returns its stop reason.
  uint8_t Resolve(const StackStore::Body& body, ::firetower::daemon::Process& process,
                  StackParts parts);
  uint8_t ResolveUserPart(std::span<const uint64_t> addresses, uint8_t stop,
                          const std::vector<ProcessMapping>& mappings, uint32_t pid,
                          ::firetower::daemon::Process* process);
  bool ResolveUser(uint64_t address, const std::vector<ProcessMapping>& mappings, uint32_t pid,
                   const ::firetower::daemon::Process* process);
  uint32_t StackOf(const ft_sample& sample, StackParts parts, uint8_t* stop);
  void NoteKernelCode(uint32_t tgid, uint32_t kernel_frames);
  TaskLabel LabelOf(const ft_sample& sample);
  void Defer(const ft_sample& sample);
  void Defer(Pending pending);
  void AddPending(const Pending& pending, const CgroupNode& node, StackParts parts);
  // Reads the mounted tree again, at most once a second.
  void ScanCgroups(int64_t now_ns);
  void OnRemoved(uint64_t cgroup_id, int64_t now_ns);

  ModuleRegistry& modules_;
  ProcessTable& processes_;
  CgroupTree& cgroups_;
  Unwinder& unwinder_;
  ColdStacks cold_;
  ResolverPeers& peers_;
  const Clock& clock_;
  LabelChoice label_choice_;
  std::shared_ptr<const Selection> selection_;
  uint32_t selection_version_ = 0;
  std::unordered_map<const Container*, Known> decisions_;
  StackStore stacks_;
  TaskGate tasks_;
  uint32_t tasks_version_ = 0;
  bool tasks_lossy_ = false;  // records were lost since the last tick
  bool tasks_stale_ = false;  // a container has another filter than before
  SliceBuilder builder_;
  std::vector<Frame> frames_;  // scratch
  std::vector<Pending> pending_;
  std::shared_ptr<const Container> unknown_;
  const uint32_t own_pid_;
  CgroupNode unknown_node_;
  uint64_t not_selected_ = 0;
  uint64_t bad_records_ = 0;
  int64_t slice_end_ns_ = 0;
  Position at_;
  bool scan_wanted_ = false;  // a path did not fit its record
  int64_t next_scan_ns_ = 0;
  uint64_t untold_cgroups_ = 0;  // as of the last scan
  int64_t next_sweep_ns_ = 0;
};

}  // namespace firetower::daemon
