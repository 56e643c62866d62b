// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "query/question.h"
#include "query/wire.h"
#include "store/query.h"

namespace firetower::query {

// All of them read each matching profile once, one at a time, and hold only sums. kExhausted:
// past question.limits. Profiles that cannot be read go to `skipped` and are in no sum; if all are
// unreadable, kUnavailable.

// Returns the `k` containers with the highest main value of the type. A window that lies partly in
// the range counts for that part; the hottest function is that of whole windows.
Result<TopReply> TopContainers(const store::ProfileSource& source, const Question& question,
                               std::span<const store::OpenProfile> open, size_t k,
                               store::SkippedList* skipped);

// Returns the `k` functions with the highest self value, over whole windows.
Result<TopReply> TopFunctions(const store::ProfileSource& source, const Question& question,
                              std::span<const store::OpenProfile> open, size_t k,
                              store::SkippedList* skipped);

// Returns the `k` source lines with the highest self value, over whole windows. Where the line is
// not known, a function is one.
Result<TopReply> TopLines(const store::ProfileSource& source, const Question& question,
                          std::span<const store::OpenProfile> open, size_t k,
                          store::SkippedList* skipped);

// Returns the `k` processes with the highest value, over whole windows. Those of one name in one
// container are one row.
Result<TopReply> TopProcesses(const store::ProfileSource& source, const Question& question,
                              std::span<const store::OpenProfile> open, size_t k,
                              store::SkippedList* skipped);

// Returns the `k` traces with the highest value in a container, over whole windows. Samples of
// threads that published none are in the total alone.
Result<TopReply> TopTraces(const store::ProfileSource& source, const Question& question,
                           std::span<const store::OpenProfile> open, size_t k,
                           store::SkippedList* skipped);

}  // namespace firetower::query
