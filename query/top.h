// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "query/question.h"
#include "query/wire.h"
#include "store/query.h"

namespace firetower::query {

// Beyond this many containers the functions of all are summed at once, and TopFunction::containers
// stays empty: telling them apart reads the store once a container.
inline constexpr size_t kMaxContainersToldApart = 64;

// The `k` containers with the most of the type's main value. A window that lies partly in the range
// counts for that part.
Result<TopReply> TopContainers(const store::ObjectStore& store, const Question& question,
                               std::span<const store::OpenProfile> open, size_t k);

// The `k` functions with the most self value, over all that matches.
Result<TopReply> TopFunctions(const store::ObjectStore& store, const Question& question,
                              std::span<const store::OpenProfile> open, size_t k);

}  // namespace firetower::query
