// SPDX-License-Identifier: Apache-2.0
#include "query/time_range.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>

#include "base/units.h"

namespace firetower::query {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

Error BadTime(std::string_view text, std::string_view why) {
  return Error(ErrorCode::kInvalid,
               fmt::format("'{}' is not a time: {}; write 2026-07-01T10:00:00Z, an epoch in s, ms, "
                           "us or ns, now, now-1h, or a duration before now such as 15m",
                           text, why));
}

// Takes exactly `digits` digits from the front; nullopt when they are not there.
std::optional<int> TakeNumber(std::string_view& text, size_t digits) {
  if (text.size() < digits || !AllDigits(text.substr(0, digits))) return std::nullopt;
  int value = 0;
  for (char c : text.substr(0, digits)) value = value * 10 + (c - '0');
  text.remove_prefix(digits);
  return value;
}

bool TakeAny(std::string_view& text, std::string_view set) {
  if (text.empty() || set.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// A fraction of a second after its '.': at most nine digits.
std::optional<int64_t> TakeFractionNs(std::string_view& text) {
  int64_t ns = 0;
  int64_t unit = kNsPerSecond;
  while (!text.empty() && IsDigit(text[0])) {
    if (unit == 1) return std::nullopt;
    unit /= 10;
    ns += (text[0] - '0') * unit;
    text.remove_prefix(1);
  }
  if (unit == kNsPerSecond) return std::nullopt;
  return ns;
}

// "Z" or "+02:00", in seconds east of UTC; it must end the text.
std::optional<int64_t> TakeOffsetSeconds(std::string_view& text) {
  if (TakeAny(text, "Zz")) return 0;
  bool west = !text.empty() && text[0] == '-';
  if (!TakeAny(text, "+-")) return std::nullopt;
  auto hours = TakeNumber(text, 2);
  if (!hours || !TakeAny(text, ":")) return std::nullopt;
  auto minutes = TakeNumber(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  int64_t seconds = *hours * 3600 + *minutes * 60;
  return west ? -seconds : seconds;
}

// RFC 3339 §5.6, date-time. Leap second :60 is taken as :59.
std::optional<int64_t> ParseRfc3339(std::string_view text) {
  auto year = TakeNumber(text, 4);
  if (!year || !TakeAny(text, "-")) return std::nullopt;
  auto month = TakeNumber(text, 2);
  if (!month || !TakeAny(text, "-")) return std::nullopt;
  auto day = TakeNumber(text, 2);
  if (!day || !TakeAny(text, "Tt ")) return std::nullopt;
  auto hour = TakeNumber(text, 2);
  if (!hour || !TakeAny(text, ":")) return std::nullopt;
  auto minute = TakeNumber(text, 2);
  if (!minute || !TakeAny(text, ":")) return std::nullopt;
  auto second = TakeNumber(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  std::optional<int64_t> fraction = 0;
  if (TakeAny(text, ".")) fraction = TakeFractionNs(text);
  auto offset = TakeOffsetSeconds(text);
  // Years beyond these do not fit 64-bit nanoseconds.
  if (!fraction || !offset || !text.empty() || *year < 1970 || *year > 2261) return std::nullopt;

  std::tm parts{};
  parts.tm_year = *year - 1900;
  parts.tm_mon = *month - 1;
  parts.tm_mday = *day;
  parts.tm_hour = *hour;
  parts.tm_min = *minute;
  parts.tm_sec = std::min(*second, 59);
  std::tm normal = parts;
  int64_t seconds = timegm(&normal);
  // timegm() turns 31 February into March: such a date is refused instead.
  if (normal.tm_mon != parts.tm_mon || normal.tm_mday != parts.tm_mday) return std::nullopt;
  return (seconds - *offset) * kNsPerSecond + *fraction;
}

// The unit follows from the number of digits, as in Grafana and Pyroscope.
std::optional<int64_t> ParseEpoch(std::string_view text) {
  if (text.size() > 19) return std::nullopt;
  int64_t unit = 1;
  if (text.size() <= 11) {
    unit = kNsPerSecond;
  } else if (text.size() <= 14) {
    unit = kNsPerMs;
  } else if (text.size() <= 17) {
    unit = 1000;
  }
  int64_t ns = 0;
  for (char c : text) {
    if (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, c - '0', &ns)) {
      return std::nullopt;
    }
  }
  if (__builtin_mul_overflow(ns, unit, &ns)) return std::nullopt;
  return ns;
}

}  // namespace

Result<int64_t> ParseTime(std::string_view text, int64_t now_ns) {
  if (text == "now") return now_ns;
  if (AllDigits(text)) {
    if (auto ns = ParseEpoch(text)) return *ns;
    return BadTime(text, "the number is too large");
  }
  if (text.starts_with("now")) {
    if (text[3] != '-') return BadTime(text, "after 'now' only '-' and a duration may follow");
    auto back = ParseDurationNs(text.substr(4));
    if (!back) return BadTime(text, "what follows 'now-' is not a duration");
    return now_ns - *back;
  }
  if (text.size() > 4 && text[4] == '-') {
    if (auto ns = ParseRfc3339(text)) return *ns;
    return BadTime(text, "not a valid RFC 3339 date, time and zone");
  }
  constexpr std::string_view kAgo = " ago";
  const bool says_ago = text.ends_with(kAgo);
  auto back = ParseDurationNs(says_ago ? text.substr(0, text.size() - kAgo.size()) : text);
  if (!back) return BadTime(text, text.empty() ? "it is empty" : "no form fits");
  return now_ns - *back;
}

Result<TimeRange> ParseTimeRange(std::string_view from, std::string_view to, int64_t now_ns) {
  TimeRange range;
  range.to_ns = now_ns;
  if (!to.empty()) {
    ASSIGN_OR_RETURN(range.to_ns, ParseTime(to, now_ns).Context("to"));
  }
  range.from_ns = range.to_ns - kDefaultSpanNs;
  if (!from.empty()) {
    ASSIGN_OR_RETURN(range.from_ns, ParseTime(from, now_ns).Context("from"));
  }
  if (range.from_ns >= range.to_ns) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("from {} is not before to {}; exchange them or widen the range",
                             FormatTimeUtc(range.from_ns), FormatTimeUtc(range.to_ns)));
  }
  return range;
}

std::string FormatTimeUtc(int64_t ns) {
  int64_t seconds = ns / kNsPerSecond;
  int64_t rest = ns % kNsPerSecond;
  if (rest < 0) {
    rest += kNsPerSecond;
    --seconds;
  }
  std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::string out =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                  parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  if (rest >= kNsPerMs) out += fmt::format(".{:03}", rest / kNsPerMs);
  return out + "Z";
}

}  // namespace firetower::query
