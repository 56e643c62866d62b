// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// GET /api/v1/heat: samples by time, as a HeatReply. Parameters: `by` (offset: rows are the parts
// of a second, columns seconds; or a label, whose values are the rows), `rows` (of a second), `k`
// (most rows by a label), `step` (a column by a label), `paint` (a regular expression of
// functions), and those of a question.
net::HttpResponse ServeHeat(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
