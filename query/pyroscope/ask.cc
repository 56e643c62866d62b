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

constexpr std::string_view kIdLabel = "__profile_type__";
constexpr std::string_view kNameLabel = "__name__";
// The year 2258; nanoseconds end four years later.
constexpr int64_t kLastMs = 9'100'000'000'000;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// Ours of Pyroscope's name or of any spelling that we read; as it is when it is neither.
std::string TypeOfName(const std::string& name) {
  for (const profile::TypeKind kind : {profile::TypeKind::kCpu, profile::TypeKind::kOffCpu,
                                       profile::TypeKind::kLock, profile::TypeKind::kMemory}) {
    const profile::ProfileType type{.kind = kind};
    if (name == profile::SplitPyroscopeId(type.PyroscopeId()).name) return type.Name();
  }
  return name;
}

struct TypedSelector {
  std::string type;
  profile::Selector selector;
};

// Takes what the selector says of the type out of it, but what contradicts the type, which then
// matches nothing.
Result<TypedSelector> ReadSelector(std::string_view type_id, std::string_view text) {
  const size_t brace = std::min(text.find('{'), text.size());
  TypedSelector typed;
  typed.type = type_id;
  if (typed.type.empty()) typed.type = TypeOfName(std::string(Trimmed(text.substr(0, brace))));
  ASSIGN_OR_RETURN(typed.selector,
                   profile::Selector::Parse(text.substr(brace)).Context("label selector"));
  const auto same = [](const std::string& a, const std::string& b) {
    const auto one = profile::ParseTypeSelection(a);
    const auto other = profile::ParseTypeSelection(b);
    return one && other && one->type == other->type;
  };
  if (const auto id = typed.selector.EqualTo(kIdLabel)) {
    if (typed.type.empty()) typed.type = *id;
    if (typed.type == *id) typed.selector = typed.selector.Without(kIdLabel);
  }
  if (const auto name = typed.selector.EqualTo(kNameLabel)) {
    const std::string type = TypeOfName(*name);
    if (typed.type.empty()) typed.type = type;
    if (same(typed.type, type)) typed.selector = typed.selector.Without(kNameLabel);
  }
  return typed;
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
  ASSIGN_OR_RETURN(const TypedSelector typed, ReadSelector(type_id, selector));
  const TimeRange times = RangeOf(range, caller.parts.clock.WallNs());
  HttpRequest question = caller.http;
  question.body.clear();
  question.params = {{"type", typed.type},
                     {"q", typed.selector.ToString()},
                     {"from", FormatTimeUtc(times.from_ns)},
                     {"to", FormatTimeUtc(times.to_ns)}};
  constexpr std::string_view kParams[] = {"type", "q", "from", "to"};
  ASSIGN_OR_RETURN(const Params params, Params::Read(question, kParams));
  return ReadQuestion(question, params, caller.parts, type_default);
}

Result<std::vector<Question>> AskEach(const Caller& caller, const LabelsRequest& request) {
  if (request.matchers.size() > kMaxSelectors) {
    return Error(ErrorCode::kInvalid, fmt::format("{} matchers: at most {} are looked for at once",
                                                  request.matchers.size(), kMaxSelectors));
  }
  std::vector<std::string> selectors = request.matchers;
  if (selectors.empty()) selectors.emplace_back();
  std::vector<Question> questions;
  for (const std::string& selector : selectors) {
    ASSIGN_OR_RETURN(Question question,
                     Ask(caller, "", selector, request.range, TypeDefault::kAny));
    questions.push_back(std::move(question));
  }
  return questions;
}

std::string PyroscopeName(std::string_view type) {
  const auto known = profile::ParseProfileType(type);
  if (!known) return std::string(type);
  return profile::SplitPyroscopeId(known->PyroscopeId()).name;
}

}  // namespace firetower::query::pyroscope
