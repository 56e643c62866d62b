// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// GET /api/v1/flame: the sum of the matching profiles as a flame graph that is already laid out and
// cut.
net::HttpResponse ServeFlame(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
