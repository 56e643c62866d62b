// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/ask.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "profile/selector.h"
#include "profile/type.h"
#include "query/http/params.h"
#include "query/time_range.h"

namespace firetower::query::pyroscope {
namespace {

constexpr std::string_view kNameLabel = "__name__";
// The year 2258; nanoseconds end four years later.
constexpr int64_t kLastMs = 9'100'000'000'000;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// A selector with what stands before its braces as the name of a type, which may be an id.
Result<profile::Selector> ReadSelector(std::string_view text) {
  const size_t brace = std::min(text.find('{'), text.size());
  ASSIGN_OR_RETURN(profile::Selector selector,
                   profile::Selector::Parse(text.substr(brace)).Context("label selector"));
  const std::string_view name = Trimmed(text.substr(0, brace));
  if (name.empty()) return selector;
  ASSIGN_OR_RETURN(profile::Matcher of_type,
                   profile::Matcher::Create(std::string(kNameLabel), profile::MatchOp::kEqual,
                                            std::string(name)));
  return selector.With(std::move(of_type));
}

// A question's conditions but the time, as selectors one of which has to match.
Result<std::vector<profile::Selector>> AlternativesOf(const store::Query& query) {
  profile::Selector all = query.selector;
  if (query.type) {
    ASSIGN_OR_RETURN(
        profile::Matcher of_type,
        profile::Matcher::Create("type", profile::MatchOp::kEqual, query.type->Name()));
    all = all.With(std::move(of_type));
  }
  if (query.any_of.empty()) return std::vector{std::move(all)};
  std::vector<profile::Selector> alternatives;
  for (const profile::Selector& one : query.any_of) {
    profile::Selector both = all;
    for (const profile::Matcher& matcher : one.matchers()) both = both.With(matcher);
    alternatives.push_back(std::move(both));
  }
  return alternatives;
}

// Grafana asks to the millisecond, from 1970 on in its health check, and sometimes without a time.
TimeRange RangeOf(const AskedRange& asked, int64_t now_ns) {
  const auto to_ns = [](int64_t ms) { return std::clamp<int64_t>(ms, 0, kLastMs) * kNsPerMs; };
  TimeRange range;
  range.to_ns = asked.end_ms == 0 ? now_ns : to_ns(asked.end_ms);
  range.from_ns = asked.start_ms == 0 && asked.end_ms == 0 ? range.to_ns - kLabelsSpanNs
                                                           : to_ns(asked.start_ms);
  // A moment is the millisecond that begins there.
  if (range.from_ns == range.to_ns) range.to_ns += kNsPerMs;
  return range;
}

}  // namespace

Result<Question> Ask(const Caller& caller, std::string_view type_id, std::string_view selector,
                     const AskedRange& range, TypeDefault type_default) {
  ASSIGN_OR_RETURN(const profile::Selector asked, ReadSelector(selector));
  const TimeRange times = RangeOf(range, caller.parts.clock.WallNs());
  net::HttpRequest question = caller.http;
  question.body.clear();
  question.params = {{"type", std::string(type_id)},
                     {"q", asked.ToString()},
                     {"from", FormatTimeUtc(times.from_ns)},
                     {"to", FormatTimeUtc(times.to_ns)}};
  constexpr std::string_view kParams[] = {"type", "q", "from", "to"};
  ASSIGN_OR_RETURN(const Params params, Params::Read(question, kParams));
  return ReadQuestion(question, params, caller.parts, type_default);
}

Result<Question> AskForAny(const Caller& caller, const LabelsRequest& request) {
  if (request.matchers.size() > kMaxSelectors) {
    return Error(ErrorCode::kInvalid, fmt::format("{} matchers: at most {} are looked for at once",
                                                  request.matchers.size(), kMaxSelectors));
  }
  std::vector<Question> questions;
  for (const std::string& selector : request.matchers) {
    ASSIGN_OR_RETURN(Question question,
                     Ask(caller, "", selector, request.range, TypeDefault::kAny));
    questions.push_back(std::move(question));
  }
  if (questions.empty()) return Ask(caller, "", "", request.range, TypeDefault::kAny);
  Question any = std::move(questions.back());
  questions.pop_back();
  if (questions.empty()) return any;
  questions.push_back(any);
  any.query.type.reset();
  any.query.selector = {};
  any.query.any_of.clear();
  for (const Question& question : questions) {
    ASSIGN_OR_RETURN(std::vector<profile::Selector> alternatives, AlternativesOf(question.query));
    for (profile::Selector& one : alternatives) any.query.any_of.push_back(std::move(one));
  }
  return any;
}

std::string PyroscopeName(std::string_view type) {
  const auto known = profile::ParseProfileType(type);
  if (!known) return std::string(type);
  return profile::SplitPyroscopeId(known->PyroscopeId()).name;
}

}  // namespace firetower::query::pyroscope
