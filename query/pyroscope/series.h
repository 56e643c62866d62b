// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "query/pyroscope/ask.h"

namespace firetower::query::pyroscope {

// SelectSeries: sums by step and label set, what Grafana makes rates of. A point stands at the end
// of its step; steps end at multiples of the step, at or before the range's end. The first one is
// whole, so that a chart does not begin with a dip. kUnsupported for what needs the stacks.
Result<Answer> SelectSeries(const Caller& caller, std::string_view message);

}  // namespace firetower::query::pyroscope
