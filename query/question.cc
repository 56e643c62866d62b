// SPDX-License-Identifier: Apache-2.0
#include "query/question.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "profile/select/type_choice.h"
#include "query/http/errors.h"

namespace firetower::query {
namespace {

constexpr int64_t kMaxSeconds = 366 * 24 * 3600;

// The type from `type=`, else from the selector, else the default.
Status ReadSelector(const Params& params, TypeDefault type_default, Question& question) {
  ASSIGN_OR_RETURN(const profile::Selector asked,
                   profile::Selector::Parse(params.Get("q")).Context("q"));
  ASSIGN_OR_RETURN(profile::TypeChoice choice,
                   profile::ChooseType(asked, params.Get("type"),
                                       type_default == TypeDefault::kCpu ? "cpu" : ""));
  // A name that contradicts the type is still in `rest`.
  const std::optional<std::string> other = choice.rest.EqualTo("__name__");
  if (params.Has("type") && other) {
    return Error(ErrorCode::kInvalid, fmt::format("type={} and q name two types (q: {}); omit one",
                                                  params.Get("type"), *other));
  }
  if (choice.type) SetType(*std::move(choice.type), question);
  question.query.selector = std::move(choice.rest);
  question.query.any_of = std::move(choice.any_of);
  return OkStatus();
}

Result<TimeRange> ReadRange(const Params& params, int64_t now_ns) {
  if (!params.Has("seconds")) return ParseTimeRange(params.Get("from"), params.Get("to"), now_ns);
  if (params.Has("from") || params.Has("to")) {
    return Error(ErrorCode::kInvalid,
                 "'seconds' counts back from now: give either 'seconds' or 'from' and 'to'");
  }
  ASSIGN_OR_RETURN(int64_t seconds, params.GetInt("seconds", 0, 1, kMaxSeconds));
  return TimeRange{now_ns - seconds * kNsPerSecond, now_ns};
}

// Reads "100-300": milliseconds of each second.
Status ReadOffsets(std::string_view text, profile::TimeCut& cut) {
  constexpr int64_t kSlotMs = profile::SampleTimes::kSlotNs / kNsPerMs, kSecondMs = 1000;
  const size_t dash = text.find('-');
  const auto number = [](std::string_view digits) -> int64_t {
    int64_t value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : -1;
  };
  const int64_t from = dash == text.npos ? -1 : number(text.substr(0, dash));
  const int64_t to = dash == text.npos ? -1 : number(text.substr(dash + 1));
  if (from < 0 || to <= from || to > kSecondMs || from % kSlotMs != 0 || to % kSlotMs != 0) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("parameter 'offsets' is '{}': it must be two multiples of {} ms of a "
                             "second, as 100-300",
                             text, kSlotMs));
  }
  cut.offset_from = from / kSlotMs;
  cut.offset_to = to / kSlotMs;
  return OkStatus();
}

// A slot belongs to a range if it begins in it.
Status ReadCut(const Params& params, Question& question) {
  ASSIGN_OR_RETURN(const bool exact, params.GetBool("exact", params.Has("offsets")));
  if (!exact) {
    if (!params.Has("offsets")) return OkStatus();
    return Error(ErrorCode::kInvalid, "'offsets' are parts of windows: it cannot be exact=false");
  }
  constexpr int64_t kSlotNs = profile::SampleTimes::kSlotNs;
  profile::TimeCut cut{.from_slot = question.range.from_ns / kSlotNs,
                       .to_slot = (question.range.to_ns + kSlotNs - 1) / kSlotNs};
  if (params.Has("offsets")) RETURN_IF_ERROR(ReadOffsets(params.Get("offsets"), cut));
  question.query.cut = cut;
  question.query.to_ns += kLateSampleNs;
  return OkStatus();
}

Status ReadStackFilter(const Params& params, Question& question) {
  ASSIGN_OR_RETURN(const bool invert, params.GetBool("invert", false));
  ASSIGN_OR_RETURN(profile::StackFilter filter,
                   profile::StackFilter::Create({.focus = std::string(params.Get("focus")),
                                                 .ignore = std::string(params.Get("ignore")),
                                                 .hide = std::string(params.Get("hide")),
                                                 .show = std::string(params.Get("show")),
                                                 .tag_focus = std::string(params.Get("tagfocus")),
                                                 .tag_ignore = std::string(params.Get("tagignore")),
                                                 .show_from = std::string(params.Get("show-from")),
                                                 .invert = invert})
                       .Context("a parameter"));
  if (!filter.empty())
    question.query.stacks = std::make_shared<const profile::StackFilter>(std::move(filter));
  return OkStatus();
}

}  // namespace

void SetType(profile::TypeSelection type, Question& question) {
  // A sum of profiles has what is in use as its default, if one of them has.
  if (type.sample_type.empty() && type.type.kind == profile::TypeKind::kMemory)
    type.sample_type = type.type.MainValue().type;
  question.query.of_level = profile::IsLevel(type.sample_type);
  question.sample_type = std::move(type.sample_type);
  question.query.type = std::move(type.type);
}

std::string Question::Describe() const {
  std::string selector = query.selector.empty() ? "{}" : query.selector.ToString();
  return fmt::format("{}{} from {} to {}", query.type ? query.type->Name() : "", selector,
                     FormatTimeUtc(range.from_ns), FormatTimeUtc(range.to_ns));
}

Result<RowValueAsked> RowValueOf(const Question& question) {
  const profile::ValueType main = question.query.type->MainValue();
  const profile::ValueType count = question.query.type->SampleTypes().front();
  const std::string& asked = question.sample_type;
  if (asked.empty() || asked == main.type) return RowValueAsked{store::RowValue::kMain, main};
  if (asked == count.type) return RowValueAsked{store::RowValue::kSamples, count};
  return Error(ErrorCode::kUnsupported,
               fmt::format("the series are of {} and {}, not of {}", main.type, count.type, asked));
}

Result<Question> ReadQuestion(const net::HttpRequest& request, const Params& params,
                              const ApiParts& parts, TypeDefault type_default) {
  Question question;
  question.limits = parts.limits;
  question.limits.calls.stop = request.gone;
  ASSIGN_OR_RETURN(question.range, ReadRange(params, parts.clock.WallNs()));
  RETURN_IF_ERROR(ReadSelector(params, type_default, question));
  ASSIGN_OR_RETURN(question.query.selector,
                   parts.authorizer.Narrow(request, question.query.selector));
  question.query.from_ns = question.range.from_ns;
  question.query.to_ns = question.range.to_ns;
  RETURN_IF_ERROR(ReadCut(params, question));
  RETURN_IF_ERROR(ReadStackFilter(params, question));
  return question;
}

int StatusOf(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kPermission:
      return 403;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kExhausted:
      return 413;
    case ErrorCode::kUnsupported:
      return 422;
    case ErrorCode::kUnavailable:
      return 503;
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

net::HttpResponse ErrorResponse(const Error& error) {
  return JsonError(StatusOf(error), error.message());
}

void NoteSkipped(const store::SkippedList& skipped, net::HttpResponse& response) {
  if (skipped.total == 0) return;
  response.headers.emplace_back("X-Firetower-Skipped", std::to_string(skipped.total));
  if (skipped.items.empty()) return;
  const store::Skipped& first = skipped.items.front();
  LOG(kWarn, "profiles left out of an answer",
      {{"count", skipped.total},
       {"first_key", first.key},
       {"entry", first.entry},
       {"reason", first.reason}});
}

void NoteCoarse(std::optional<double> share, net::HttpResponse& response) {
  if (!share) return;
  // Rounded up: it is a bound.
  response.headers.emplace_back(kMaxHiddenHeader,
                                fmt::format("{:.6f}", std::ceil(*share * 1e6) / 1e6));
}

net::HttpResponse JsonResponse(std::string body, const store::SkippedList& skipped) {
  net::HttpResponse response;
  response.content_type = "application/json";
  response.body = std::move(body);
  NoteSkipped(skipped, response);
  return response;
}

std::string DamagedText(const store::SkippedList& skipped) {
  if (skipped.total == 0) return "";
  return fmt::format(
      "; {} stored profiles or bundles of that time are damaged, and their contents are unknown: "
      "the server's log names the first",
      skipped.total);
}

Error NothingMatches(const Question& question, const store::SkippedList& skipped) {
  return {
      ErrorCode::kNotFound,
      fmt::format(
          "no profile matches {}; widen the range, or list existing profiles with /api/v1/series{}",
          question.Describe(), DamagedText(skipped))};
}

Error NothingReadable(const store::SkippedList& skipped) {
  std::string first;
  if (!skipped.items.empty())
    first = fmt::format(", the first: {}: {}", skipped.items[0].key, skipped.items[0].reason);
  return {ErrorCode::kUnavailable,
          fmt::format("there is no answer: {} stored profiles or bundles of that time could not be "
                      "read, and nothing else matches{}",
                      skipped.total, first)};
}

}  // namespace firetower::query
