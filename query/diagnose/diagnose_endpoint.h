// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// Answers GET /api/v1/diagnose: whose code the value is spent in, and the known pathologies that
// the stacks show (diagnosis/report.h), over whole windows.
net::HttpResponse ServeDiagnose(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
