// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/container/spsc_queue.h"
#include "base/thread.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/cpu_list.h"
#include "daemon/capture/round.h"

namespace firetower::daemon {

struct CaptureOptions {
  size_t sideband_ring_bytes = 512u << 10;
  std::string sys_root = "/sys";
  // Rounds are this far apart when nothing presses. Each costs the machine a wake-up.
  int round_ms = 200;
  // And this far at least when something does: a stack waits for its table, a ring fills up.
  int pressed_round_ms = 50;
};

// The `capture` thread: drains the sample ring and every CPU's sideband ring into rounds, and
// hands them on in time order. Nothing else.
//
// A round first takes what waits in the sample ring, then every sideband ring to its head. A
// mapping's record is written before its code can run, so no sample of the round lacks the
// mapping it needs. What is newer than the round's horizon waits for the next one.
//
// Bounded: kRounds rounds are in flight; while the reader holds them all, data waits in the rings,
// and when those are full the kernel side counts what it drops.
class Capture {
 public:
  // `sampler` must outlive this. `on_round` is called on the capture thread after a round was
  // queued (to wake the reader).
  static Result<std::unique_ptr<Capture>> Create(BpfSampler& sampler, const CaptureOptions& options,
                                                 const Clock& clock,
                                                 std::function<void()> on_round);
  virtual ~Capture() = default;

  // The CPUs to sample from now on, unset: every one that is online. With none, no perf event is
  // open, and processes are not followed either: the first round afterwards says so. Any thread.
  virtual void SetCpus(std::optional<CpuSet> cpus) = 0;

  // Opens the sideband of every online CPU. The mapping stream flows before the first sample does.
  virtual Status OpenSideband() = 0;
  // Attaches the sampler to the CPUs that are wanted and starts the thread.
  virtual Status Start() = 0;
  // Stops sampling, drains a last time and ends the thread. The last round's horizon is infinite.
  virtual void Stop() = 0;

  // Reader's side.
  virtual std::unique_ptr<Round> TryPop() = 0;
  virtual void Recycle(std::unique_ptr<Round> round) = 0;

  // Times a round could not be taken because the reader held all of them.
  virtual uint64_t stalls() const = 0;
  // Sideband records the kernel dropped because a ring was full.
  virtual uint64_t lost_sideband() const = 0;
  virtual bool build_ids() const = 0;
};

}  // namespace firetower::daemon
