// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// GET /api/v1/profiles: the matching profiles, newest first: ProfilesReply.
net::HttpResponse ServeProfiles(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
