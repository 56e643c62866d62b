// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "query/api.h"
#include "query/http/message.h"

namespace firetower::query {

// GET /api/v1/profile: the sum of what matches, over the store and the open window, as gzip'd
// pprof. Errors are text/plain with X-Go-Pprof, the only form `go tool pprof` shows.
HttpResponse ServeProfile(const HttpRequest& request, const ApiParts& parts);
HttpResponse PprofError(int status, const Error& error);

}  // namespace firetower::query
