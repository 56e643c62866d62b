// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "query/question.h"
#include "query/wire.h"
#include "store/query.h"

namespace firetower::query {

// Both read each profile that matches once, one at a time, and hold sums only. kExhausted past
// question.limits; what could not be read goes to `skipped` and is in no sum, and when that is all
// there is, kUnavailable.

// The `k` containers with the most of the type's main value. A window that lies partly in the range
// counts for that part; the hottest function is that of whole windows.
Result<TopReply> TopContainers(const store::ProfileSource& source, const Question& question,
                               std::span<const store::OpenProfile> open, size_t k,
                               store::SkippedList* skipped);

// The `k` functions with the most self value, over whole windows.
Result<TopReply> TopFunctions(const store::ProfileSource& source, const Question& question,
                              std::span<const store::OpenProfile> open, size_t k,
                              store::SkippedList* skipped);

}  // namespace firetower::query
