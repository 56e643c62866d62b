// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "daemon/capture/rounds/round.h"
#include "daemon/capture/rounds/sample_traces.h"
#include "daemon/pipeline/cold_stacks.h"
#include "daemon/pipeline/newest_stacks.h"
#include "daemon/pipeline/resolver_peers.h"
#include "daemon/pipeline/slice_builder.h"
#include "daemon/pipeline/stack_frames.h"
#include "daemon/pipeline/stack_store.h"
#include "daemon/pipeline/task_gate.h"
#include "daemon/pipeline/told_waits.h"
#include "daemon/policy/selection.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/process/module.h"
#include "daemon/process/process_table.h"
#include "daemon/runtimes/function_table.h"
#include "daemon/unwind/unwinder.h"

namespace firetower::daemon {

struct LabelChoice {
  bool thread = true;
  bool comm = true;
  bool cpu = false;
  bool trace = true;
  // When each one was taken, beside the profiles.
  bool times = true;
};

// Returns what a sample stands for.
Amount AmountOf(const ft_sample& sample);

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
  // Applies a round, as far as its samples belong to this slice. Returns true if there are samples
  // of the next one: take the builder's slice, set the next end, and call it again with the same
  // round. False: the round is through.
  bool Process(const Round& round);
  // Adds the waits that go on to this slice, as far as they went until `until_ns` (monotonic).
  void TakeWaitsThatGoOn(std::span<const WaitingThread> threads, int64_t until_ns);
  // Samples from this time on (monotonic) go to the next slice.
  void SetSliceEnd(int64_t time_ns) { slice_end_ns_ = time_ns; }
  // Takes the answer to a request for an unwind table.
  void TakeTable(LoadedTable table);
  // Retries pending samples. Must be called about once a second. `last`: no sample may wait any
  // longer.
  void Tick(bool last = false);

  // Adds the interpreters' functions that are new or gone to the slice that ends.
  void TakeFunctions(Slice& slice);

  SliceBuilder& builder() { return builder_; }
  const StackStore& stacks() const { return stacks_; }
  const FunctionTable& functions() const { return functions_; }
  size_t pending() const { return pending_.size(); }
  uint64_t not_selected() const { return not_selected_; }
  // The number of invalid records in rounds.
  uint64_t bad_records() const { return bad_records_; }

 private:
  // The moment and the task of a sample.
  struct Taken {
    int64_t time_ns = 0;
    uint32_t pid = 0;
    uint32_t tid = 0;
  };
  static Taken TakenAt(const ft_sample& sample) {
    return {static_cast<int64_t>(sample.time_ns), sample.tgid, sample.tid};
  }
  struct Pending {
    uint64_t cgroup_id = 0;
    int64_t since_ns = 0;
    Taken taken;
    Amount amount;
    Type type = FT_TYPE_CPU;
    TaskLabel label;
    uint8_t stop = 0;
    uint8_t kernel_frames = 0;  // the first of `frames`
    uint16_t cpu = 0;
    std::vector<Frame> frames;
    TaskFacts facts;  // where a filter is in force
  };
  struct Known {
    Decisions decisions;
    uint32_t version = 0;
  };
  // A lock that a thread waited for.
  struct Lock {
    FutexUse use = FutexUse::kNone;
    Comm holder{};
    uint64_t holder_stack = 0;  // names its body; 0: none
    uint32_t holder_tgid = 0;
  };
  // A sample with what it stands for, and with what a wait has beyond its task's own labels.
  struct Event {
    const ft_sample& sample;
    Amount amount;
    uint8_t state = FT_WAIT_STATES;
    Comm waker{};
    Lock lock = {};
    const ft_trace_ids* trace = nullptr;  // of a wait that goes on; else it came before the sample
  };

  // How far a round is applied.
  struct Position {
    size_t sample = 0;
    size_t wait = 0;
    size_t cgroup = 0;
    size_t sideband = 0;
    size_t freed = 0;
    bool slice_ended = false;  // the next sample or wait is of the next slice
  };

  void BeginRound(const Round& round);
  void EndRound(const Round& round);
  // Adds to the slice what was freed before its end.
  void TakeFreed(const Round& round);
  // Takes the samples and waits before that time. False: the next one belongs to the next slice.
  bool TakeSamples(const Round& round, int64_t before_ns);
  // Takes the first sample or wait of a slice, whatever its time is: so every slice gets ahead.
  void TakeFirst(const Round& round);
  void OnSample(const ft_sample& sample, const Round& round);
  void OnWait(const ft_wait& wait);
  // Takes a wait for each of the types that it counts for, a mask of bits.
  void TakeWait(ft_sample sample, uint8_t types, Event event);
  Lock LockOf(const ft_wait& wait);
  uint32_t HolderStack(const Lock& lock);
  void Take(const Event& event);
  // Tells whether a container with these decisions wants the sample, and counts it if not.
  bool Wants(const Decisions& decisions, const ft_sample& sample);
  bool Wants(const Decision& decision, const Pending& pending);
  // Returns the facts that a filter needs once the container is known.
  TaskFacts FactsOf(const ft_sample& sample);
  // Handles a cold sample, whose walk the kernel side has left to us.
  void OnCold(const ft_sample& sample, const StackStore::Body& body, const Round& round);
  void TakeFinished();
  void OnCgroup(const CgroupEvent& event, std::string_view path);
  void AddSample(const CgroupNode& node, Type type, uint32_t stack, uint32_t label,
                 const Amount& amount, const Taken& taken, uint8_t stop);
  const Decisions& DecisionsOf(const CgroupNode& node);
  void GateAll();
  void DecideTasksAnew();
  uint8_t Resolve(const StackStore::Body& body, ::firetower::daemon::Process& process,
                  StackParts parts);
  uint32_t StackOf(const ft_sample& sample, StackParts parts, uint8_t* stop);
  void NoteKernelCode(uint32_t tgid, uint32_t kernel_frames);
  void SetTrace(const ft_trace_ids& ids, TaskLabel& label) const;
  TaskLabel LabelOf(const ft_sample& sample);
  TaskLabel LabelOf(const Event& event);
  void Defer(const Event& event);
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
  FunctionTable functions_;
  TaskGate tasks_;
  uint32_t tasks_version_ = 0;
  bool tasks_lossy_ = false;  // records were lost since the last tick
  bool tasks_stale_ = false;  // a container has another filter than before
  SliceBuilder builder_;
  StackFrames frames_;
  ToldWaits told_;
  NewestStacks newest_;
  SampleTraces traces_;
  bool notes_newest_ = false;  // some policy asks for locks
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
