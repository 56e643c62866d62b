// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/container/spsc_queue.h"
#include "base/snapshot.h"
#include "base/thread.h"
#include "daemon/capture/capture.h"
#include "daemon/pipeline/resolver.h"

namespace firetower::daemon {

struct PipelineOptions {
  int64_t slice_ns = 5 * kNsPerSecond;  // divides the window
  int64_t window_ns = 60 * kNsPerSecond;
  LabelChoice labels;
  size_t stack_words = StackStore::kMaxWords;
  Unwinder::Options unwind;
};

// The resolve thread's counters, updated once a second. The counts of refused entries are losses
// since the start.
struct PipelineFigures {
  uint64_t unwind_tables = 0;
  uint64_t unwind_table_bytes = 0;
  uint64_t bad_records = 0;
  uint64_t refused_stacks = 0;
  uint64_t refused_cgroups = 0;
  uint64_t refused_mappings = 0;
  uint64_t refused_modules = 0;
  uint64_t refused_functions = 0;
  uint64_t refused_tables = 0;
  uint64_t refused_spaces = 0;
};

// The kernel killed a task of a container for memory, at that moment of the monotonic clock.
struct OomKill {
  std::shared_ptr<const Container> container;
  int64_t time_ns = 0;
};

// Receiver of requests for symbols. Called on the resolve thread; returns at once.
class SymbolRequests {
 public:
  virtual ~SymbolRequests() = default;
  virtual void Want(const std::shared_ptr<const Module>& module, const Process& process,
                    const ProcessMapping& mapping) = 0;
};

// The `resolve` thread: takes rounds from capture and passes slices on. Slices and windows end at
// multiples of their lengths on the wall clock. The kernel side's epoch changes with each window,
// and earlier if the stacks of a window need more room than there is.
//
// If the export thread is late, the open slice grows: nothing is dropped here.
class Pipeline : public SliceSource {
 public:
  static constexpr size_t kSlicesInFlight = 16;
  static constexpr size_t kMaxOomKills = 256;

  Pipeline(BpfSampler& sampler, CgroupTree& cgroups, ProcessTable& processes,
           ModuleRegistry& modules, SymbolRequests& symbols, TableSource& tables,
           const Clock& clock, const PipelineOptions& options, std::function<void()> on_slice);
  ~Pipeline() override;

  // Both must outlive the thread. `waiting` may be null: then waits are told when they end.
  void Start(Capture& capture, const WaitingThreads* waiting = nullptr);
  // Must be called when a round is ready.
  void Notify() { thread_.Notify(); }
  // Sets the selection, which takes effect before the next round.
  void SetSelection(std::shared_ptr<const Selection> selection);
  // Waits until capture's last round is processed and the last slice, which ends its window, is
  // passed on. Capture must be stopping.
  void Finish();

  std::unique_ptr<Slice> TryPop() override;
  void Recycle(std::unique_ptr<Slice> slice) override;
  bool finished() const override { return finished_.load(std::memory_order_acquire); }
  PipelineFigures figures();
  using Containers = std::vector<std::shared_ptr<const Container>>;
  // Returns the containers that exist or ended within the last minute, sorted by path, as of the
  // last second; nullptr before the first second. Any thread.
  std::shared_ptr<const Containers> containers() const { return containers_.Get(); }
  // Returns the kills since the last call, at most kMaxOomKills. Any thread.
  std::vector<OomKill> TakeOomKills();

 private:
  class Peers;

  void Run(std::stop_token stop, WakeFd& wake);
  bool TakeRounds();
  void TakeTables();
  void TakeSelection();
  // Opens the slice of the current time. Returns its end on the monotonic clock.
  int64_t OpenSlice();
  void CloseSlice(int64_t end_wall_ns, bool ends_window);
  int64_t EndSlice();
  // Starts a new epoch: from here on the kernel side sends every stack again.
  void TurnEpoch();
  void TakeWaits(int64_t until_ns);
  void EndSliceIfDue();
  void TellFigures();
  void TellContainers();

  BpfSampler& sampler_;
  const CgroupTree& cgroups_;
  const ProcessTable& processes_;
  ModuleRegistry& modules_;
  const Clock& clock_;
  PipelineOptions options_;
  std::function<void()> on_slice_;
  std::unique_ptr<Peers> peers_;
  TableSource& tables_;
  Unwinder unwinder_;
  Resolver resolver_;
  Capture* capture_ = nullptr;
  const WaitingThreads* waiting_ = nullptr;
  SpscQueue<std::unique_ptr<Slice>> full_;
  SpscQueue<std::unique_ptr<Slice>> free_;
  std::atomic<bool> finished_{false};
  // The control thread sets it a few times an hour, so a lock is simplest.
  std::mutex selection_mutex_;
  std::shared_ptr<const Selection> next_selection_;
  // The control thread reads them once a second.
  std::mutex figures_mutex_;
  PipelineFigures figures_;
  std::vector<OomKill> oom_kills_;
  SnapshotCell<Containers> containers_;
  std::optional<uint64_t> reported_version_;  // of the cgroup tree
  uint32_t epoch_ = 1;
  uint32_t early_epoch_ = 0;  // the last one that did not begin with a window
  int64_t slice_end_wall_ns_ = 0;
  int64_t slice_end_ns_ = 0;
  int64_t next_tick_ns_ = 0;
  NamedThread thread_;
};

}  // namespace firetower::daemon
