// SPDX-License-Identifier: Apache-2.0
#include "query/profiles/diff_endpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "profile/builder.h"
#include "profile/diff.h"
#include "profile/pprof.h"
#include "query/http/params.h"
#include "query/profiles/profile_endpoint.h"
#include "query/profiles/sides.h"
#include "query/question.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {
    "type",    "q",         "from",      "to",       "base",         "base-q", "base-from",
    "base-to", "normalize", "exact",     "offsets",  "base-offsets", "focus",  "ignore",
    "hide",    "show",      "show-from", "tagfocus", "tagignore"};

// Both sides and their difference, which is as large as both, are in memory at once, and together
// take a third more than one sum may.
constexpr uint64_t kSideOfMerged = 3;

profile::Profile EmptyLike(const profile::Profile& other) {
  return profile::ProfileBuilder(profile::Meta(other.meta())).Build();
}

}  // namespace

net::HttpResponse ServeDiff(const net::HttpRequest& request, const ApiParts& parts) {
  const Result<Params> params = Params::Read(request, kParams);
  if (!params) return PprofError(400, params.error());
  const Result<bool> normalize = params->GetBool("normalize", false);
  if (!normalize) return PprofError(400, normalize.error());
  Result<Sides> sides = ReadSides(request, *params, parts);
  if (!sides) return PprofError(StatusOf(sides.error()), sides.error());
  for (Question* side : {&sides->after, &sides->base})
    side->limits.max_merged_bytes /= kSideOfMerged;
  auto open = parts.live.OpenProfiles();
  Result<store::MergeResult> after = MergeAsked(sides->after, open, parts);
  if (!after) return PprofError(StatusOf(after.error()), after.error());
  Result<store::MergeResult> base = MergeAsked(sides->base, open, parts);
  if (!base) return PprofError(StatusOf(base.error()), base.error());
  const bool is_none = after->profiles == 0 && base->profiles == 0;
  if (is_none) {
    after->skipped.Append(std::move(base->skipped));
    net::HttpResponse none = PprofError(
        404, Error(ErrorCode::kNotFound,
                   fmt::format("no profile matches {}, nor {}{}", sides->after.Describe(),
                               sides->base.Describe(), DamagedText(after->skipped))));
    NoteSkipped(after->skipped, none);
    return none;
  }
  // A side without profiles has the other's types, and nothing else.
  for (auto [side, other] : {std::pair{&*after, &*base}, std::pair{&*base, &*after}}) {
    if (side->profiles == 0) side->profile = EmptyLike(other->profile);
  }
  const Result<profile::Profile> diff =
      profile::Diff(base->profile, after->profile,
                    {.normalize = *normalize,
                     // Its sides bound it.
                     .limits = {.max_samples = UINT32_MAX, .max_bytes = SIZE_MAX}});
  if (!diff) {
    const bool unfit = diff.error().code() == ErrorCode::kInvalid;
    return PprofError(unfit ? 422 : StatusOf(diff.error()), diff.error());
  }
  net::HttpResponse response = PprofResponse(
      profile::EncodePprof(*diff), "diff-" + ProfileFileName(sides->after),
      fmt::format("{},{}", after->profiles, base->profiles),
      ObservedSecondsText(after->observed_ns) + "," + ObservedSecondsText(base->observed_ns));
  after->skipped.Append(std::move(base->skipped));
  NoteSkipped(after->skipped, response);
  NoteCoarse(std::max(after->max_hidden_share, base->max_hidden_share), response);
  return response;
}

}  // namespace firetower::query
