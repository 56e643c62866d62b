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
#include "daemon/capture/rounds/round.h"

namespace firetower::daemon {

struct CaptureOptions {
  size_t sideband_ring_bytes = 512u << 10;
  std::string sys_root = "/sys";
  // The interval of rounds without pressure. Each round costs a wake-up.
  int round_ms = 200;
  // Under pressure, on average (round_pace.h): a stack waits for its table, or a ring fills up.
  int pressed_round_ms = 50;
};

// The `capture` thread: drains the sample ring and every CPU's sideband ring into rounds, and
// passes them on in time order. It does nothing else.
//
// A round first drains the sample ring, then every sideband ring to its head. The kernel writes a
// mapping's record before the mapped code can run, so no sample of a round lacks its mapping.
// Records newer than the round's horizon wait for the next round.
//
// Bounds: kRounds rounds exist. While the reader holds all of them, data waits in the rings; when
// those are full, the kernel side counts what it drops.
class Capture {
 public:
  // `sampler` must outlive this. `on_round` is called on the capture thread after a round was
  // queued, to wake the reader.
  static Result<std::unique_ptr<Capture>> Create(BpfSampler& sampler, const CaptureOptions& options,
                                                 const Clock& clock,
                                                 std::function<void()> on_round);
  virtual ~Capture() = default;

  // Sets the CPUs to sample from now on; unset: every online CPU. With an empty set, and without
  // `others` (programs that do not belong to a CPU), no perf event is open, so processes are not
  // tracked either; the first round after that has `reopened` set. Any thread.
  virtual void SetWanted(std::optional<CpuSet> cpus, bool others) = 0;

  // Opens the sideband of every online CPU, so that mappings arrive before the first sample.
  virtual Status OpenSideband() = 0;
  // Attaches the sampler to the wanted CPUs and starts the thread.
  virtual Status Start() = 0;
  // Stops sampling, drains a last time and ends the thread. The last round's horizon is infinite.
  virtual void Stop() = 0;

  // For the reader.
  virtual std::unique_ptr<Round> TryPop() = 0;
  virtual void Recycle(std::unique_ptr<Round> round) = 0;

  // The number of times that no round was free because the reader held all of them.
  virtual uint64_t stalls() const = 0;
  // The number of sideband records that the kernel dropped because a ring was full.
  virtual uint64_t lost_sideband() const = 0;
  virtual bool build_ids() const = 0;
};

}  // namespace firetower::daemon
