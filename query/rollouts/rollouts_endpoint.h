// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "net/message.h"
#include "query/api.h"
#include "query/http/params.h"
#include "query/profiles/sides.h"

namespace firetower::query {

// Answers which Deployments changed to other pods, and when, with query/wire.h's RolloutsReply.
net::HttpResponse ServeRollouts(const net::HttpRequest& request, const ApiParts& parts);

// Reads the sides of a comparison with base=rollout. Each is of one revision of the one Deployment
// that has a roll-out within the range or up to kRolloutReachNs before it, the last such roll-out:
// after it up to the end of the range, and as long before it. kInvalid: several Deployments match;
// kNotFound: there was no roll-out; else as ReadQuestion.
inline constexpr int64_t kRolloutReachNs = 24 * 3600 * kNsPerSecond;
Result<Sides> ReadRolloutSides(const net::HttpRequest& request, const Params& params,
                               const ApiParts& parts);

}  // namespace firetower::query
