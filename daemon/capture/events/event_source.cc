// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/events/event_source.h"

#include <linux/perf_event.h>

namespace firetower::daemon {

bool EventSource::is_count() const {
  return type == PERF_TYPE_SOFTWARE && config != PERF_COUNT_SW_CPU_CLOCK &&
         config != PERF_COUNT_SW_TASK_CLOCK;
}

}  // namespace firetower::daemon
