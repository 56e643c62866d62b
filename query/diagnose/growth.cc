// SPDX-License-Identifier: Apache-2.0
#include "query/diagnose/growth.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "diagnosis/change.h"
#include "query/profiles/profile_endpoint.h"
#include "query/question.h"

namespace firetower::query {
namespace {

// All parts of a side together may read what the side may.
Result<diagnosis::SideSamples> ReadParts(const Question& side,
                                         std::span<const store::OpenProfile> open,
                                         const store::ProfileSource& source,
                                         store::SkippedList& skipped) {
  ASSIGN_OR_RETURN(store::ListResult list,
                   store::ListProfiles(source, side.query, open, side.limits));
  const std::vector<int64_t> bounds = PartBounds(list.rows, kMostParts);
  diagnosis::SideSamples read;
  // An index that could not be read: each part would tell it again, of its own time.
  if (bounds.empty()) {
    skipped = std::move(list.skipped);
    return read;
  }
  double value_ns = 0, observed_ns = 0;
  Question part = side;
  part.limits.max_read_bytes /= bounds.size() - 1;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    // The range may begin or end within a window, and that one counts whole.
    part.query.from_ns = i == 0 ? side.query.from_ns : bounds[i];
    part.query.to_ns = i + 2 == bounds.size() ? side.query.to_ns : bounds[i + 1];
    ASSIGN_OR_RETURN(store::MergeResult merged, MergeAsked(part, open, source));
    skipped.Append(std::move(merged.skipped));
    if (merged.profiles == 0) continue;
    read.parts.push_back(diagnosis::CountSamples(merged.profile));
    value_ns += static_cast<double>(merged.profile.Total(merged.profile.DefaultValueIndex()));
    observed_ns += static_cast<double>(merged.observed_ns);
  }
  if (observed_ns > 0) read.cores = value_ns / observed_ns;
  return read;
}

}  // namespace

Result<Sides> ReadGrowthSides(const net::HttpRequest& request, const Params& params,
                              const ApiParts& parts) {
  if (params.Has("seconds"))
    return Error(ErrorCode::kInvalid, "seconds has no base: give from and to");
  ASSIGN_OR_RETURN(Sides sides, ReadSides(request, params, parts));
  if (sides.after.query.type->Name() != "cpu")
    return Error(ErrorCode::kInvalid,
                 fmt::format("growth is found in profiles of type cpu, not {}: compare those with "
                             "/api/v1/diff",
                             sides.after.query.type->Name()));
  return sides;
}

std::vector<int64_t> PartBounds(std::span<const store::CatalogRow> rows, size_t most) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const store::CatalogRow& row : rows) spans.emplace_back(row.start_ns, row.end_ns());
  if (spans.empty()) return {};
  std::ranges::sort(spans);
  std::vector<int64_t> all = {spans.front().first};
  int64_t end_ns = spans.front().second;
  for (const auto& [from_ns, to_ns] : spans) {
    if (from_ns >= end_ns && from_ns > all.back()) all.push_back(from_ns);
    end_ns = std::max(end_ns, to_ns);
  }
  // A moment may be the begin of a profile of no length.
  all.push_back(std::max(end_ns, all.back() + 1));
  const size_t windows = all.size() - 1, kept = std::min(windows, most);
  std::vector<int64_t> bounds;
  for (size_t i = 0; i <= kept; ++i) bounds.push_back(all[i * windows / kept]);
  return bounds;
}

Result<Growth> FindGrowthSince(const Sides& sides, std::span<const store::OpenProfile> open,
                               const store::ProfileSource& source) {
  Growth growth;
  ASSIGN_OR_RETURN(const diagnosis::SideSamples before,
                   ReadParts(sides.base, open, source, growth.base_skipped));
  if (before.total() == 0) {
    if (growth.base_skipped.lacked > 0) return NothingReadable(growth.base_skipped);
    return Error(ErrorCode::kNotFound, fmt::format("nothing to compare with: no profile matches {}",
                                                   sides.base.Describe()));
  }
  ASSIGN_OR_RETURN(const diagnosis::SideSamples after,
                   ReadParts(sides.after, open, source, growth.after_skipped));
  growth.findings = diagnosis::FindGrowth(before, after);
  return growth;
}

}  // namespace firetower::query
