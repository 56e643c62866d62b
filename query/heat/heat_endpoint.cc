// SPDX-License-Identifier: Apache-2.0
#include "query/heat/heat_endpoint.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "base/units.h"
#include "query/heat/heat_grid.h"
#include "query/heat/heat_reply.h"
#include "query/heat/timed_reading.h"
#include "query/http/params.h"
#include "query/question.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"by",   "rows", "k",    "step", "paint",
                                        "type", "q",    "from", "to",   "seconds"};
constexpr int64_t kDefaultColumns = 600;
constexpr int64_t kSlotMs = profile::SampleTimes::kSlotNs / kNsPerMs;

Status CheckBy(const std::string& by) {
  std::vector<std::string> known = store::CatalogLabelNames();
  known.insert(known.begin(), {"offset", "comm", "thread", "cpu"});
  std::erase(known, "type");
  if (std::ranges::find(known, by) != known.end()) return OkStatus();
  const std::vector<std::string_view> names(known.begin(), known.end());
  return Error(ErrorCode::kInvalid, fmt::format("parameter 'by' is '{}': it must be one of {}{}",
                                                by, fmt::join(known, ", "), DidYouMean(by, names)));
}

// The width of a column: what `step` says, else so that there are at most kDefaultColumns.
Result<int64_t> ColumnMs(const Params& params, const TimeRange& range) {
  if (params.Has("step")) {
    ASSIGN_OR_RETURN(const int64_t step_ns,
                     ParseDurationNs(params.Get("step")).Context("parameter 'step'"));
    if (step_ns >= kSlotMs * kNsPerMs && step_ns % (kSlotMs * kNsPerMs) == 0)
      return step_ns / kNsPerMs;
    return Error(ErrorCode::kInvalid,
                 fmt::format("parameter 'step' is {}: it must be a multiple of {} ms",
                             params.Get("step"), kSlotMs));
  }
  const int64_t width_ms = (range.to_ns - range.from_ns) / kNsPerMs / kDefaultColumns;
  for (const int64_t ms : {20, 100, 200, 1000, 2000, 5000, 10'000, 30'000, 60'000, 300'000}) {
    if (ms >= width_ms) return ms;
  }
  return 3'600'000;
}

Result<HeatOptions> ReadOptions(const Params& params, const TimeRange& range) {
  HeatOptions options;
  if (params.Has("by")) options.by = params.Get("by");
  RETURN_IF_ERROR(CheckBy(options.by));
  options.paint = params.Get("paint");
  ASSIGN_OR_RETURN(options.offset_rows, params.GetInt("rows", options.offset_rows, 1, 50));
  if (profile::SampleTimes::kSlotsPerSecond % options.offset_rows != 0) {
    return Error(
        ErrorCode::kInvalid,
        fmt::format("parameter 'rows' is {}: a second has 50 steps of 20 ms; it must be 1, "
                    "2, 5, 10, 25 or 50",
                    options.offset_rows));
  }
  for (const std::string_view other : {"k", "step"}) {
    if (options.by_offset() && params.Has(other))
      return Error(ErrorCode::kInvalid,
                   fmt::format("parameter '{}' has no effect by offset", other));
  }
  if (options.by_offset()) return options;
  if (params.Has("rows")) {
    return Error(ErrorCode::kInvalid,
                 "parameter 'rows' is for by=offset: 'k' says how many rows "
                 "a label has at most");
  }
  ASSIGN_OR_RETURN(const int64_t k, params.GetInt("k", 50, 1, 1000));
  options.most_rows = static_cast<size_t>(k);
  ASSIGN_OR_RETURN(options.column_ms, ColumnMs(params, range));
  return options;
}

Result<net::HttpResponse> Answer(const net::HttpRequest& request, const ApiParts& parts) {
  ASSIGN_OR_RETURN(const Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(const Question question,
                   ReadQuestion(request, params, parts, TypeDefault::kCpu));
  ASSIGN_OR_RETURN(const HeatOptions options, ReadOptions(params, question.range));
  ASSIGN_OR_RETURN(HeatGrid grid,
                   HeatGrid::Create(options, question.range.from_ns, question.range.to_ns));
  const auto open = parts.live.OpenProfiles();
  store::SkippedList skipped;
  uint64_t windows = 0;
  RETURN_IF_ERROR(ForEachTimed(parts.store, question, open, options.needs_profiles(), &skipped,
                               [&](const TimedWindow& window) {
                                 ++windows;
                                 grid.Add(window);
                                 return OkStatus();
                               }));
  if (windows == 0) {
    if (skipped.lacked > 0) return NothingReadable(skipped);
    net::HttpResponse none = ErrorResponse(NothingMatches(question, skipped));
    NoteSkipped(skipped, none);
    return none;
  }
  HeatReply reply = std::move(grid).Finish();
  reply.type = question.query.type->Name();
  reply.skipped = static_cast<int64_t>(skipped.total);
  return JsonResponse(ToJson(reply), skipped);
}

}  // namespace

net::HttpResponse ServeHeat(const net::HttpRequest& request, const ApiParts& parts) {
  Result<net::HttpResponse> response = Answer(request, parts);
  return response ? *std::move(response) : ErrorResponse(response.error());
}

}  // namespace firetower::query
