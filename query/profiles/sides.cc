// SPDX-License-Identifier: Apache-2.0
#include "query/profiles/sides.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "query/rollouts/rollouts_endpoint.h"
#include "query/time_range.h"

namespace firetower::query {
namespace {

// Parameters that both sides share.
constexpr std::string_view kShared[] = {"type", "exact",     "focus",    "ignore",    "hide",
                                        "show", "show-from", "tagfocus", "tagignore", "invert"};

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
                        std::string_view selector, const TimeRange& range,
                        std::string_view offsets) {
  net::HttpRequest side = request;
  side.params = {{"q", std::string(selector)},
                 {"from", FormatTimeUtc(range.from_ns)},
                 {"to", FormatTimeUtc(range.to_ns)},
                 {"offsets", std::string(offsets)}};
  for (const std::string_view name : kShared) side.params.emplace_back(name, params.Get(name));
  return side;
}

Result<Question> ReadSide(const net::HttpRequest& side, const ApiParts& parts) {
  constexpr std::string_view kSideParams[] = {
      "type",   "q",    "from", "to",        "exact",    "offsets",   "focus",
      "ignore", "hide", "show", "show-from", "tagfocus", "tagignore", "invert"};
  ASSIGN_OR_RETURN(Params params, Params::Read(side, kSideParams));
  return ReadQuestion(side, params, parts, TypeDefault::kCpu);
}

}  // namespace

Result<Question> ReadSideOf(const net::HttpRequest& request, const Params& params,
                            const ApiParts& parts, const TimeRange& range) {
  return ReadSide(SideOf(request, params, params.Get("q"), range, params.Get("offsets")), parts);
}

bool AsksForBase(const Params& params) {
  return params.Has("base") || params.Has("base-q") || params.Has("base-from") ||
         params.Has("base-to") || params.Has("base-offsets");
}

Result<Sides> ReadSides(const net::HttpRequest& request, const Params& params,
                        const ApiParts& parts) {
  if (!AsksForBase(params)) {
    return Error(ErrorCode::kInvalid,
                 "the base of the comparison is missing: give base-from, base-to or base-q, or "
                 "base-offsets, or base=rollout");
  }
  if (params.Has("base")) return ReadRolloutSides(request, params, parts);
  Sides sides;
  const int64_t now_ns = parts.clock.WallNs();
  ASSIGN_OR_RETURN(const TimeRange after,
                   ParseTimeRange(params.Get("from"), params.Get("to"), now_ns));
  ASSIGN_OR_RETURN(const TimeRange base, BaseRange(params, after, now_ns));
  const std::string_view selector = params.Get("q");
  const std::string_view base_selector = params.Has("base-q") ? params.Get("base-q") : selector;
  ASSIGN_OR_RETURN(
      sides.after,
      ReadSide(SideOf(request, params, selector, after, params.Get("offsets")), parts));
  ASSIGN_OR_RETURN(
      sides.base,
      ReadSide(SideOf(request, params, base_selector, base, params.Get("base-offsets")), parts));
  if (sides.after.query.type != sides.base.query.type) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("profiles of types {} and {} cannot be compared: ask for one type",
                             sides.after.query.type->Name(), sides.base.query.type->Name()));
  }
  for (Question* side : {&sides.after, &sides.base}) side->limits.max_read_bytes /= 2;
  return sides;
}

}  // namespace firetower::query
