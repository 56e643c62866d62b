// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/capture/events/event_source.h"

namespace firetower::daemon {

// Finds the event of a name as perf spells it:
//
//   page-faults, context-switches, …   the kernel's counts
//   cycles, instructions, …            counters of the CPU, and its caches: L1-dcache-load-misses,
//   … r01c2                              a counter by its number, in hexadecimal
//   mem_inst_retired.all_loads         a name that the CPU's driver has in sysfs, in `events`
//   sched:sched_switch                 a tracepoint; of system calls: syscalls:sys_enter_openat
//
// Perf events may end in :u (user space alone), :k (the kernel alone) or :uk. `sys_root` is where
// sysfs is mounted. Errors: kInvalid for an unknown name, with the nearest one; kUnsupported for a
// counter of the CPU where the kernel has no driver for it, as on most virtual machines.
Result<EventSource> ResolveEvent(std::string_view name, const std::string& sys_root);

// Tells whether the name is that of a tracepoint.
bool IsTracepointName(std::string_view name);

// OK if the kernel has a driver for the CPU's counters; else kUnsupported, with what works instead.
Status HasCounters(const std::string& sys_root);

}  // namespace firetower::daemon
