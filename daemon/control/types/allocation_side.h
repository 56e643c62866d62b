// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/snapshot.h"
#include "base/thread.h"
#include "daemon/allocations/heap_watch.h"
#include "daemon/capture/families/alloc_programs.h"
#include "daemon/policy/selection.h"

namespace firetower::daemon {

// The samples of allocations. The programs are loaded when a policy asks for them for the first
// time. A thread of its own keeps the probes: to set and remove one waits for the kernel, and for
// the process's memory.
class AllocationSide {
 public:
  using Containers = std::vector<std::shared_ptr<const Container>>;
  struct Parts {
    BpfSampler& sampler;
    const Clock& clock;
    std::string proc_root;
    std::string sys_root;
    std::string cgroup_mount;  // of the hierarchy that containers are paths in
    // Returns the containers that exist; nullptr while they are not known. Any thread.
    std::function<std::shared_ptr<const Containers>()> containers;
    HeapWatch::OnEnd on_end = nullptr;  // on the thread of the probes
    bool may_follow = true;             // ReturnProbesAllowed
  };

  explicit AllocationSide(Parts parts);
  ~AllocationSide() { Stop(); }

  // Sets the policies in force. Control thread.
  void Want(std::shared_ptr<const Selection> selection);
  // Removes all probes.
  void Stop();

  struct Faults {
    std::string failure;  // why no allocations can be sampled on this machine, for people
    std::vector<LeftOutHeap> left_out;
  };
  // Any thread.
  Faults faults() const;
  // Sums since the start. Any thread.
  AllocCounters Counters() const;
  uint64_t MapBytes() const;
  size_t probed_processes() const { return probed_.load(std::memory_order_relaxed); }

 private:
  void Run(std::stop_token stop, WakeFd& wake);
  // Loads the programs unless that failed before. Returns true if they are there.
  bool Load();
  void Look(const std::shared_ptr<const Selection>& selection);

  const Parts parts_;
  const ProcFs proc_;
  SnapshotCell<AllocPrograms> programs_;  // set once, by the thread
  AllocPrograms* loaded_ = nullptr;       // the same, for the thread
  // The thread's own:
  std::unique_ptr<HeapWatch> watch_;
  std::shared_ptr<const Containers> containers_;  // as of the last decisions
  std::shared_ptr<const Selection> decided_by_;
  std::vector<HeapTarget> targets_;
  std::set<std::string> roots_;
  std::atomic<size_t> probed_{0};
  mutable std::mutex mutex_;  // for the rest
  std::shared_ptr<const Selection> selection_;
  Faults faults_;
  bool started_ = false;  // with the first selection that asks for allocations; control thread
  NamedThread thread_;
};

}  // namespace firetower::daemon
