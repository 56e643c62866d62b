// SPDX-License-Identifier: Apache-2.0
// What there is: profile types, label names and values, label sets.
#pragma once

#include <string_view>

#include "base/result.h"
#include "query/pyroscope/ask.h"

namespace firetower::query::pyroscope {

// Who may read the profiles of single namespaces alone gets the types that there can be: the
// request has no selector to name one, and Grafana's health check is this.
Result<Answer> ProfileTypes(const Caller& caller, std::string_view message);
// Names with `__` in front are for selectors, and not told.
Result<Answer> LabelNames(const Caller& caller, std::string_view message);
Result<Answer> LabelValues(const Caller& caller, std::string_view message);
// Distinct label sets, in the order of the names asked for; without names, of all labels.
Result<Answer> LabelSets(const Caller& caller, std::string_view message);
// Whether there is anything, looking back for kStatsSpanNs at most, and when the newest ends. The
// oldest is not looked for, and not told.
inline constexpr int64_t kStatsSpanNs = 31 * 24 * 3600 * kNsPerSecond;
Result<Answer> ProfileStats(const Caller& caller, std::string_view message);

}  // namespace firetower::query::pyroscope
