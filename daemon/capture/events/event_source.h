// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace firetower::daemon {

// An event of the kernel, as it is opened: a perf event, or a tracepoint.
struct EventSource {
  // perf_event_attr's fields of these names.
  uint32_t type = 0;
  uint64_t config = 0;
  uint64_t config1 = 0;
  uint64_t config2 = 0;
  bool exclude_user = false;
  bool exclude_kernel = false;
  std::string tracepoint;  // its name without the group; empty: a perf event
  int32_t syscall = -1;    // of sys_enter and sys_exit: the call that is meant; -1: all

  // Tells whether it is one of the kernel's own counts. The kernel's estimate of a period by their
  // frequency overshoots without bound (kernel/events/core.c, perf_swevent_set_period sets the
  // period that the estimate divides by before the interval that it belongs to), so we pace them.
  bool is_count() const;
  bool operator==(const EventSource&) const = default;
};

}  // namespace firetower::daemon
