// SPDX-License-Identifier: Apache-2.0
#include "query/flame/flame_endpoint.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/suggest.h"
#include "profile/flame/flame.h"
#include "profile/flame/levels_json.h"
#include "query/http/params.h"
#include "query/profiles/profile_endpoint.h"
#include "query/question.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"type", "q",      "from",      "to",   "seconds",
                                        "sort", "format", "max-nodes", "names"};
// What a screen can show; also Pyroscope's default, as the cap is.
constexpr int64_t kDefaultNodes = 8192;
constexpr int64_t kMaxNodes = 1 << 20;
// Of the tree before the cut: 100 MB beside the profile, for each of the workers.
constexpr uint32_t kMaxTreeNodes = 1u << 21;

Result<bool> WantsRows(const Params& params) {
  std::string_view format = params.Get("format");
  if (format.empty() || format == "levels") return false;
  if (format == "nested") return true;
  constexpr std::string_view kFormats[] = {"levels", "nested"};
  return Error(ErrorCode::kInvalid, fmt::format("parameter 'format' is '{}': it must be levels or "
                                                "nested{}",
                                                format, DidYouMean(format, kFormats)));
}

Result<profile::FlameOptions> ReadOptions(const Params& params) {
  profile::FlameOptions options;
  ASSIGN_OR_RETURN(int64_t nodes, params.GetInt("max-nodes", kDefaultNodes, 1, kMaxNodes));
  options.max_bars = static_cast<uint32_t>(nodes);
  if (params.Has("names")) {
    ASSIGN_OR_RETURN(options.names,
                     profile::ParseNameDetail(params.Get("names")).Context("parameter 'names'"));
  }
  if (params.Has("sort")) {
    ASSIGN_OR_RETURN(options.order,
                     profile::ParseSiblingOrder(params.Get("sort")).Context("parameter 'sort'"));
  }
  return options;
}

Result<HttpResponse> Answer(const HttpRequest& request, const ApiParts& parts) {
  ASSIGN_OR_RETURN(Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(bool rows, WantsRows(params));
  ASSIGN_OR_RETURN(profile::FlameOptions options, ReadOptions(params));
  ASSIGN_OR_RETURN(Question question, ReadQuestion(request, params, parts, TypeDefault::kCpu));
  options.sample_type = question.sample_type;

  auto open = parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(const store::MergeResult merged, MergeAsked(question, open, parts));
  if (merged.profiles == 0) {
    HttpResponse none = ErrorResponse(NothingMatches(question, merged.skipped));
    NoteSkipped(merged.skipped, none);
    return none;
  }
  ASSIGN_OR_RETURN(profile::Flame flame,
                   profile::MakeFlame(merged.profile, options, kMaxTreeNodes));
  flame.info.title = question.Describe();
  flame.info.from_ms = question.range.from_ns / kNsPerMs;
  flame.info.to_ms = question.range.to_ns / kNsPerMs;
  flame.info.observed_seconds = static_cast<double>(merged.observed_ns) / kNsPerSecond;
  flame.info.profiles = merged.profiles;
  flame.info.skipped = merged.skipped.total;
  const std::string type = question.query.type->Name();
  return JsonResponse(
      rows ? profile::FlameRowsJson(flame, type) : profile::FlameLevelsJson(flame, type),
      merged.skipped);
}

}  // namespace

HttpResponse ServeFlame(const HttpRequest& request, const ApiParts& parts) {
  Result<HttpResponse> response = Answer(request, parts);
  return response ? *std::move(response) : ErrorResponse(response.error());
}

}  // namespace firetower::query
