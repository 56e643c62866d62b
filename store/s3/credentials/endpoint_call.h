// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/client/http_client.h"

namespace firetower::store::s3 {

// Asks an endpoint that hands out credentials: three tries at most, half a second apart, where it
// cannot be reached or says 429 or 5xx; ten seconds in all. Any other answer is returned.
Result<net::HttpResponse> CallEndpoint(net::HttpClient& transport,
                                       const net::ClientRequest& request, const CallLimits& limits);

}  // namespace firetower::store::s3
