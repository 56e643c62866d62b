// SPDX-License-Identifier: Apache-2.0
#include "query/flame/flame_endpoint.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/suggest.h"
#include "profile/flame/flame.h"
#include "profile/flame/levels_json.h"
#include "query/flame/flame_sum.h"
#include "query/http/params.h"
#include "query/question.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"type", "q",      "from",      "to",   "seconds",
                                        "sort", "format", "max-nodes", "names"};
// The most bars that a screen can show. Pyroscope has the same default and the same cap.
constexpr int64_t kDefaultNodes = 8192;
constexpr int64_t kMaxNodes = 1 << 20;

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

Result<net::HttpResponse> Answer(const net::HttpRequest& request, const ApiParts& parts) {
  ASSIGN_OR_RETURN(Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(bool rows, WantsRows(params));
  ASSIGN_OR_RETURN(profile::FlameOptions options, ReadOptions(params));
  ASSIGN_OR_RETURN(Question question, ReadQuestion(request, params, parts, TypeDefault::kCpu));
  options.sample_type = question.sample_type;

  const auto open = parts.live.OpenProfiles();
  profile::FlameTreeBuilder builder(options.names, TreeNodesWithin(question.limits));
  FlameSum sum(&builder, FlameSum::Side::kRight, options.sample_type, /*recounts=*/true);
  ASSIGN_OR_RETURN(const store::SumResult summed, SumAsked(question, open, parts, sum));
  if (summed.profiles == 0) {
    net::HttpResponse none = ErrorResponse(NothingMatches(question, summed.skipped));
    NoteSkipped(summed.skipped, none);
    return none;
  }
  profile::Flame flame;
  flame.levels = profile::LayOutWithin(std::move(builder), options);
  flame.info.value = *sum.value();
  flame.info.title = question.Describe();
  flame.info.from_ms = question.range.from_ns / kNsPerMs;
  flame.info.to_ms = question.range.to_ns / kNsPerMs;
  flame.info.observed_seconds = static_cast<double>(summed.observed_ns) / kNsPerSecond;
  flame.info.profiles = summed.profiles;
  flame.info.skipped = summed.skipped.total;
  const std::string type = question.query.type->Name();
  net::HttpResponse response = JsonResponse(
      rows ? profile::FlameRowsJson(flame, type) : profile::FlameLevelsJson(flame, type),
      summed.skipped);
  NoteCoarse(flame.levels.max_hidden_share, response);
  return response;
}

}  // namespace

net::HttpResponse ServeFlame(const net::HttpRequest& request, const ApiParts& parts) {
  Result<net::HttpResponse> response = Answer(request, parts);
  return response ? *std::move(response) : ErrorResponse(response.error());
}

}  // namespace firetower::query
