// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/s3/http/http.h"

namespace firetower::store::s3 {

// Asks an endpoint that hands out credentials: three tries at most, half a second apart, where it
// cannot be reached or says 429 or 5xx; ten seconds in all. Any other answer is returned.
Result<HttpResponse> CallEndpoint(HttpTransport& transport, const HttpRequest& request,
                                  const CallLimits& limits);

}  // namespace firetower::store::s3
