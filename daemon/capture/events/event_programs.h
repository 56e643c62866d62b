// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "bpf/abi/event.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/events/event_rate.h"
#include "daemon/capture/events/event_source.h"

namespace firetower::daemon {

// Sums over CPUs since load.
struct EventCounters {
  ft_counters counters = {};
  uint64_t missed = 0;  // tracepoints that happened within another one, and have no own sample
};

// The programs of one event (bpf/event.bpf.c), loaded. They write to the ring of the sampler, gate
// by its verdicts and walk by its tables. One thread; Counters and MapBytes any.
class EventPrograms {
 public:
  // `slot`: the event's type is FT_TYPE_EVENT plus this. `sampler` must outlive this. Errors name
  // the failing program with the end of the verifier's log, or the missing capability.
  static Result<std::unique_ptr<EventPrograms>> Load(BpfSampler& sampler, uint32_t slot,
                                                     const EventSource& source);
  virtual ~EventPrograms() = default;

  // Samples at that rate from now on (monotonic), on these CPUs alone; a tracepoint on all. Call it
  // again every few seconds: it keeps the frequency while the event's own rate changes. Errors say
  // which call failed on which CPU; other CPUs are sampled.
  virtual Status Attach(std::span<const int> cpus, const EventRate& rate, int64_t now_ns) = 0;
  virtual void Detach() = 0;
  virtual EventCounters Counters() const = 0;
  // Kernel memory of the maps that are theirs alone.
  virtual uint64_t MapBytes() const = 0;
};

}  // namespace firetower::daemon
