// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "diagnosis/report.h"
#include "query/api.h"
#include "query/profiles/sides.h"
#include "store/query.h"

namespace firetower::query {

// Reads both sides of a comparison. kInvalid: the profiles are of another type than cpu, or the
// parameter seconds stands beside a base; else as ReadSides.
Result<Sides> ReadGrowthSides(const net::HttpRequest& request, const Params& params,
                              const ApiParts& parts);

// Finds what takes more CPU than at the base of a comparison. Each side is read in up to
// kMostParts parts, each of some windows, so that what differs from window to window by itself is
// not taken for a change. kNotFound: the base has no profiles; kUnavailable: it has, and none of
// them could be read; else as MergeAsked.
inline constexpr size_t kMostParts = 8;
struct Growth {
  std::vector<diagnosis::Finding> findings;  // those that take more, the most first
  // Profiles that match and are in no number of the findings, by side.
  store::SkippedList base_skipped, after_skipped;
};
Result<Growth> FindGrowthSince(const Sides& sides, std::span<const store::OpenProfile> open,
                               const store::ProfileSource& source);

// Returns times at which no profile of `rows` goes on, from the first one's begin to the last one's
// end: at most `most` parts between them, of about as many windows each. Empty: there are no rows.
std::vector<int64_t> PartBounds(std::span<const store::CatalogRow> rows, size_t most);

}  // namespace firetower::query
