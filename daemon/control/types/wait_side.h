// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/snapshot.h"
#include "daemon/capture/families/wait_programs.h"

namespace firetower::daemon {

// The off-CPU programs. They are loaded when a policy asks for waits for the first time, and
// attached only while one does: without such a policy a switch costs nothing.
class WaitSide : public WaitingThreads {
 public:
  // `sampler` must outlive this.
  explicit WaitSide(BpfSampler& sampler) : sampler_(sampler) {}

  // Sets the shortest wait that any policy asks for, in nanoseconds; unset: none asks for waits.
  // `locks`: some policy asks for waits for locks. Control thread.
  void Want(std::optional<int64_t> min_wait_ns, bool locks);
  // Why waits cannot be measured on this machine, for people; empty as long as nothing failed.
  // Control thread.
  const std::string& failure() const { return failure_; }
  // The same for waits for locks of the kernel's.
  const std::string& lock_failure() const { return lock_failure_; }

  // Sums since the start. Any thread.
  WaitCounters Counters() const;
  uint64_t MapBytes() const;
  std::vector<WaitingThread> WaitsThatGoOn() const override;

 private:
  Status Attach(int64_t min_wait_ns);
  void TellKernelLocks(bool wanted);

  BpfSampler& sampler_;
  SnapshotCell<WaitPrograms> programs_;  // set once, by the control thread
  WaitPrograms* loaded_ = nullptr;       // the same, for the control thread
  std::atomic<bool> attached_{false};
  std::string failure_;
  std::string lock_failure_;
};

}  // namespace firetower::daemon
