// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "net/message.h"
#include "query/api.h"
#include "query/http/params.h"
#include "query/question.h"
#include "query/time_range.h"

namespace firetower::query {

// The two questions of a comparison. Each may read half of what an answer may.
struct Sides {
  Question base;
  Question after;
};

// The parameters of the base. Each endpoint that compares lists them.
//   base base-q base-from base-to base-offsets
// Tells whether some of them are there.
bool AsksForBase(const Params& params);

// Reads both sides. With base=rollout as ReadRolloutSides (query/rollouts). Else everything that is
// not of the base is of both. With one of base-from and base-to the base is as long as the other
// side; without both it has its time. kInvalid: there is no base; the sides are of different types;
// else as ReadQuestion.
Result<Sides> ReadSides(const net::HttpRequest& request, const Params& params,
                        const ApiParts& parts);

// Returns the question of one side alone, with all that is not of the base.
Result<Question> ReadSideOf(const net::HttpRequest& request, const Params& params,
                            const ApiParts& parts, const TimeRange& range);

}  // namespace firetower::query
