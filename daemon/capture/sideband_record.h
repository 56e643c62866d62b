// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "daemon/capture/rounds/round.h"

namespace firetower::daemon {

// Appends one perf record (header included) to `round` if its kind is used. Adds lost records to
// round.lost_sideband. The event was opened with sample_id_all and sample_type = PERF_SAMPLE_TIME,
// so each record ends with its time.
//
// Formats: perf_event_open(2), include/uapi/linux/perf_event.h. kCorrupt: the record is shorter
// than its kind demands; nothing is appended.
Status AppendSidebandRecord(std::span<const std::byte> record, Round& round);

}  // namespace firetower::daemon
