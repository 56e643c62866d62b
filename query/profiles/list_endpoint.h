// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/api.h"
#include "query/http/message.h"

namespace firetower::query {

// GET /api/v1/profiles: what matches, profile by profile, newest first: ProfilesReply.
HttpResponse ServeProfiles(const HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
