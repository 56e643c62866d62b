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
#include "query/question.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"type",   "q",         "from",    "to",
                                        "base-q", "base-from", "base-to", "normalize"};

// Both sides and their difference, which is as large as both, are in memory at once, and together
// take a third more than one sum may.
constexpr uint64_t kSideOfMerged = 3;

struct Sides {
  Question base;
  Question after;
  bool normalize = false;
};

Result<TimeRange> BaseRange(const Params& params, const TimeRange& after, int64_t now_ns) {
  const int64_t length_ns = after.to_ns - after.from_ns;
  TimeRange base = after;
  if (params.Has("base-from")) {
    ASSIGN_OR_RETURN(base.from_ns, ParseTime(params.Get("base-from"), now_ns).Context("base-from"));
    base.to_ns = base.from_ns + length_ns;
  }
  if (params.Has("base-to")) {
    ASSIGN_OR_RETURN(base.to_ns, ParseTime(params.Get("base-to"), now_ns).Context("base-to"));
    if (!params.Has("base-from")) base.from_ns = base.to_ns - length_ns;
  }
  if (base.from_ns >= base.to_ns)
    return Error(ErrorCode::kInvalid, "the base's time is empty: base-to must be after base-from");
  return base;
}

// Returns the request for one side alone.
net::HttpRequest SideOf(const net::HttpRequest& request, const Params& params,
                        std::string_view selector, const TimeRange& range) {
  net::HttpRequest side = request;
  side.params = {{"type", std::string(params.Get("type"))},
                 {"q", std::string(selector)},
                 {"from", FormatTimeUtc(range.from_ns)},
                 {"to", FormatTimeUtc(range.to_ns)}};
  return side;
}

Result<Question> ReadSide(const net::HttpRequest& side, const ApiParts& parts) {
  constexpr std::string_view kSideParams[] = {"type", "q", "from", "to"};
  ASSIGN_OR_RETURN(Params params, Params::Read(side, kSideParams));
  return ReadQuestion(side, params, parts, TypeDefault::kCpu);
}

Result<Sides> ReadSides(const net::HttpRequest& request, const ApiParts& parts) {
  ASSIGN_OR_RETURN(Params params, Params::Read(request, kParams));
  Sides sides;
  ASSIGN_OR_RETURN(sides.normalize, params.GetBool("normalize", false));
  if (!params.Has("base-q") && !params.Has("base-from") && !params.Has("base-to")) {
    return Error(ErrorCode::kInvalid,
                 "the base of the comparison is missing: give base-from, base-to or base-q");
  }
  const int64_t now_ns = parts.clock.WallNs();
  ASSIGN_OR_RETURN(const TimeRange after,
                   ParseTimeRange(params.Get("from"), params.Get("to"), now_ns));
  ASSIGN_OR_RETURN(const TimeRange base, BaseRange(params, after, now_ns));
  const std::string_view selector = params.Get("q");
  const std::string_view base_selector = params.Has("base-q") ? params.Get("base-q") : selector;
  ASSIGN_OR_RETURN(sides.after, ReadSide(SideOf(request, params, selector, after), parts));
  ASSIGN_OR_RETURN(sides.base, ReadSide(SideOf(request, params, base_selector, base), parts));
  if (sides.after.query.type != sides.base.query.type) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("profiles of types {} and {} cannot be compared: ask for one type",
                             sides.after.query.type->Name(), sides.base.query.type->Name()));
  }
  for (Question* side : {&sides.after, &sides.base}) {
    side->limits.max_merged_bytes /= kSideOfMerged;
    side->limits.max_read_bytes /= 2;
  }
  return sides;
}

profile::Profile EmptyLike(const profile::Profile& other) {
  return profile::ProfileBuilder(profile::Meta(other.meta())).Build();
}

}  // namespace

net::HttpResponse ServeDiff(const net::HttpRequest& request, const ApiParts& parts) {
  Result<Sides> sides = ReadSides(request, parts);
  if (!sides) return PprofError(StatusOf(sides.error()), sides.error());
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
                    {.normalize = sides->normalize,
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
