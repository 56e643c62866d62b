// SPDX-License-Identifier: Apache-2.0
#include "query/flame/flame_endpoint.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/suggest.h"
#include "diagnosis/domain.h"
#include "profile/flame/flame.h"
#include "profile/flame/html.h"
#include "profile/flame/levels_json.h"
#include "profile/flame/svg.h"
#include "query/flame/flame_sum.h"
#include "query/http/params.h"
#include "query/profiles/sides.h"
#include "query/question.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {
    "type",   "q",      "from",      "to",        "seconds",      "sort",
    "format", "names",  "exact",     "offsets",   "focus",        "ignore",
    "hide",   "show",   "invert",    "show-from", "tagfocus",     "tagignore",
    "base",   "base-q", "base-from", "base-to",   "base-offsets", "max-nodes"};
// The most bars that a screen can show. Pyroscope has the same default and the same cap.
constexpr int64_t kDefaultNodes = 8192;
constexpr int64_t kMaxNodes = 1 << 20;

enum class Format { kLevels, kNested, kSvg, kHtml };

Result<Format> ReadFormat(const Params& params) {
  const std::string_view format = params.Get("format");
  if (format.empty() || format == "levels") return Format::kLevels;
  if (format == "nested") return Format::kNested;
  if (format == "svg") return Format::kSvg;
  if (format == "html") return Format::kHtml;
  constexpr std::string_view kFormats[] = {"levels", "nested", "svg", "html"};
  return Error(ErrorCode::kInvalid,
               fmt::format("parameter 'format' is '{}': it must be levels, nested, svg or html{}",
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

net::HttpResponse Drawn(std::string body, std::string_view type,
                        const store::SkippedList& skipped) {
  net::HttpResponse response;
  response.body = std::move(body);
  response.content_type = type;
  response.headers.emplace_back("Content-Disposition", "attachment");
  NoteSkipped(skipped, response);
  return response;
}

net::HttpResponse Reply(const profile::Flame& flame, const profile::FlameOptions& options,
                        const Question& question, Format format,
                        const store::SkippedList& skipped) {
  const std::string type = question.query.type->Name();
  net::HttpResponse response;
  switch (format) {
    case Format::kSvg:
      response = Drawn(profile::FlameSvg(flame, options), "image/svg+xml", skipped);
      break;
    case Format::kHtml:
      response =
          Drawn(profile::FlameHtml(flame, options, type), "text/html; charset=utf-8", skipped);
      break;
    case Format::kNested:
      response = JsonResponse(profile::FlameRowsJson(flame, type), skipped);
      break;
    case Format::kLevels:
      response = JsonResponse(profile::FlameLevelsJson(flame, type), skipped);
  }
  NoteCoarse(flame.levels.max_hidden_share, response);
  return response;
}

void Describe(const Question& question, const store::SumResult& summed, profile::FlameInfo& info) {
  info.title = question.Describe();
  info.from_ms = question.range.from_ns / kNsPerMs;
  info.to_ms = question.range.to_ns / kNsPerMs;
  info.observed_seconds = static_cast<double>(summed.observed_ns) / kNsPerSecond;
  info.profiles = summed.profiles;
  info.skipped = summed.skipped.total;
}

Result<net::HttpResponse> AnswerOne(const Question& question, profile::FlameOptions options,
                                    Format format, const ApiParts& parts) {
  options.sample_type = question.sample_type;
  const auto open = parts.live.OpenProfiles();
  profile::FlameTreeBuilder builder(options.names, TreeNodesWithin(question.limits));
  builder.NameDomains(diagnosis::DomainLetterOf);
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
  Describe(question, summed, flame.info);
  return Reply(flame, options, question, format, summed.skipped);
}

Result<net::HttpResponse> AnswerTwo(const Sides& sides, profile::FlameOptions options,
                                    Format format, const ApiParts& parts) {
  options.sample_type = sides.after.sample_type;
  const auto open = parts.live.OpenProfiles();
  profile::FlameTreeBuilder builder(options.names, TreeNodesWithin(sides.after.limits));
  builder.NameDomains(diagnosis::DomainLetterOf);
  FlameSum right(&builder, FlameSum::Side::kRight, options.sample_type, /*recounts=*/false);
  FlameSum left(&builder, FlameSum::Side::kLeft, options.sample_type, /*recounts=*/false);
  store::SumResult after;
  store::SumResult base;
  do {
    ASSIGN_OR_RETURN(after, SumAsked(sides.after, open, parts, right));
    left.Clear();  // the graph has a base, also when nothing was recorded of it
    ASSIGN_OR_RETURN(base, SumAsked(sides.base, open, parts, left));
  } while (builder.Recount());
  after.skipped.Append(std::move(base.skipped));
  if (after.profiles == 0 && base.profiles == 0) {
    net::HttpResponse none = ErrorResponse(Error(
        ErrorCode::kNotFound, fmt::format("no profile matches {}, nor {}{}", sides.after.Describe(),
                                          sides.base.Describe(), DamagedText(after.skipped))));
    NoteSkipped(after.skipped, none);
    return none;
  }
  if (right.value() && left.value() && *right.value() != *left.value())
    return Error(ErrorCode::kUnsupported, "the two sides have values of different units");
  profile::Flame flame;
  flame.levels = profile::LayOutWithin(std::move(builder), options);
  flame.info.value = right.value() ? *right.value() : *left.value();
  Describe(sides.after, after, flame.info);
  flame.info.base = {.from_ms = sides.base.range.from_ns / kNsPerMs,
                     .to_ms = sides.base.range.to_ns / kNsPerMs,
                     .observed_seconds = static_cast<double>(base.observed_ns) / kNsPerSecond,
                     .profiles = base.profiles};
  return Reply(flame, options, sides.after, format, after.skipped);
}

Result<net::HttpResponse> Answer(const net::HttpRequest& request, const ApiParts& parts) {
  ASSIGN_OR_RETURN(const Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(const Format format, ReadFormat(params));
  ASSIGN_OR_RETURN(profile::FlameOptions options, ReadOptions(params));
  if (AsksForBase(params)) {
    if (params.Has("seconds")) {
      return Error(ErrorCode::kInvalid,
                   "'seconds' ends now: a comparison needs from and to instead");
    }
    if (format == Format::kSvg || format == Format::kHtml) {
      return Error(ErrorCode::kInvalid,
                   "a comparison has the formats levels and nested; firetower diff draws others");
    }
    ASSIGN_OR_RETURN(const Sides sides, ReadSides(request, params, parts));
    return AnswerTwo(sides, std::move(options), format, parts);
  }
  ASSIGN_OR_RETURN(const Question question,
                   ReadQuestion(request, params, parts, TypeDefault::kCpu));
  return AnswerOne(question, std::move(options), format, parts);
}

}  // namespace

net::HttpResponse ServeFlame(const net::HttpRequest& request, const ApiParts& parts) {
  Result<net::HttpResponse> response = Answer(request, parts);
  return response ? *std::move(response) : ErrorResponse(response.error());
}

}  // namespace firetower::query
