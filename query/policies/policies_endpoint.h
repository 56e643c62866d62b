// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// GET /api/v1/policies: the policies that the server knows, and how they are. A caller sees those
// of the namespaces whose profiles it may read, and the cluster's own if that is all of them; one
// who may not read all names a namespace by `q`.
net::HttpResponse ServePolicies(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
