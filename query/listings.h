// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// Endpoints with the JSON answers of query/wire.h.
net::HttpResponse ServeTop(const net::HttpRequest& request, const ApiParts& parts);
net::HttpResponse ServeSeries(const net::HttpRequest& request, const ApiParts& parts);
net::HttpResponse ServeLabels(const net::HttpRequest& request, const ApiParts& parts);
net::HttpResponse ServeTypes(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
