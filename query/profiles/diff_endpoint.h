// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.h"
#include "query/api.h"

namespace firetower::query {

// GET /api/v1/diff: what /api/v1/profile of `type`, `q`, `from` and `to` says, less what it says of
// the base, as gzip'd pprof whose base samples are negated and labelled pprof::base, which `go tool
// pprof` shows as -diff_base would. The base is `base-q` (else `q`) at `base-from` to `base-to`; of
// these two, one that is missing is as far from the other as `from` is from `to`, and without both
// it is the same time. `normalize=true` scales it to the totals of the other side. Errors as
// /api/v1/profile's, for each side; 404 when neither has a profile.
net::HttpResponse ServeDiff(const net::HttpRequest& request, const ApiParts& parts);

}  // namespace firetower::query
