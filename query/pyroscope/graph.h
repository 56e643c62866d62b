// SPDX-License-Identifier: Apache-2.0
// What has stacks: flame graphs in Pyroscope's levels, their differences, and pprof. Where nothing
// matches they are empty and no error, since panels of Grafana show errors as failures.
#pragma once

#include <string_view>

#include "base/result.h"
#include "query/pyroscope/ask.h"

namespace firetower::query::pyroscope {

// kUnsupported for a format that is neither a flame graph nor pprof.
Result<Answer> SelectMergeStacktraces(const Caller& caller, std::string_view message);
// SelectMergeStacktraces of the spans that are named; without any of all.
Result<Answer> SelectMergeSpanProfile(const Caller& caller, std::string_view message);
// A bare profile.proto of the value that the type's id names.
Result<Answer> SelectMergeProfile(const Caller& caller, std::string_view message);
// Both sides in one graph, seven numbers a bar.
Result<Answer> DiffGraph(const Caller& caller, std::string_view message);

}  // namespace firetower::query::pyroscope
