// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/api.h"
#include "query/http/message.h"

namespace firetower::query {

// GET /api/v1/flame: the sum of what matches as a flame graph that is laid out and cut already.
HttpResponse ServeFlame(const HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
