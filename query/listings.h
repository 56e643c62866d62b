// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/api.h"
#include "query/http/message.h"

namespace firetower::query {

// The JSON answers of query/wire.h.
HttpResponse ServeTop(const HttpRequest& request, const ApiParts& parts);
HttpResponse ServeSeries(const HttpRequest& request, const ApiParts& parts);
HttpResponse ServeLabels(const HttpRequest& request, const ApiParts& parts);
HttpResponse ServeTypes(const HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
