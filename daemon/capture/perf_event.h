// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"
#include "daemon/capture/events/event_rate.h"
#include "daemon/capture/events/event_source.h"
#include "daemon/capture/perf_ring.h"

namespace firetower::daemon {

// Opens a disabled cpu-clock event with a fixed period, on one CPU for every task, without ticks of
// the idle task. The kernel rounds the period to its timer's resolution.
Result<UniqueFd> OpenCpuClock(int cpu, uint64_t period_ns);

// Changes the period of a running event, in its unit: nanoseconds of a clock, else events.
Status SetPeriod(int event_fd, uint64_t period);

// Opens a disabled event on one CPU for every task, with a period if the rate has one, else with a
// period that the kernel adapts to the frequency.
Result<UniqueFd> OpenEvent(int cpu, const EventSource& source, const EventRate& rate);
// Returns how often an open event has happened.
Result<uint64_t> ReadCount(int event_fd);

struct SidebandRing {
  PerfRing ring;
  bool build_ids = false;  // from 5.12; before, mappings carry device and inode
};

// Opens and enables the sideband event of one CPU: fork, exec, exit, comm and executable mappings
// of every task, on CLOCK_MONOTONIC, in a ring of `ring_bytes`. Halves the ring, down to 32 KiB,
// while the memory lock budget refuses it (EPERM; kernel/events/core.c, perf_mmap).
Result<SidebandRing> OpenSideband(int cpu, size_t ring_bytes);

}  // namespace firetower::daemon
