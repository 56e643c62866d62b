// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// GET /api/v1/diff: the profile of /api/v1/profile for `type`, `q`, `from` and `to` minus the one
// for the base, as gzip'd pprof. The base samples are negated and labelled pprof::base, so that `go
// tool pprof` shows them as with -diff_base. The base is `base-q` (else `q`) from `base-from` to
// `base-to`. If one of these two times is missing, the base range has the same length as `from` to
// `to`; if both are missing, it is the same range. `normalize=true` scales the base to the totals
// of the other side. Fails as /api/v1/profile does, for each side; 404 when neither side has a
// profile.
net::HttpResponse ServeDiff(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
