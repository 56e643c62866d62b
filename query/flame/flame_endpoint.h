// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// GET /api/v1/flame: the sum of what matches as a flame graph that is laid out and cut already.
net::HttpResponse ServeFlame(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
