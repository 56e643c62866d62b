// SPDX-License-Identifier: Apache-2.0
#include "store/s3/http/date.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "base/clock.h"

namespace firetower::store::s3 {
namespace {

// The number that these digits are, and nothing but digits; -1 for anything else.
int Number(std::string_view digits) {
  int value = -1;
  const bool all = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!all) return -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::optional<int64_t> UnixSeconds(int year, int month, int day, std::string_view clock) {
  // Later times have no nanoseconds in 63 bits, and are a server's joke.
  constexpr int kLastYear = 2261;
  if (year < 1970 || year > kLastYear || month < 1 || day < 1 || clock.size() != 8)
    return std::nullopt;
  if (clock[2] != ':' || clock[5] != ':') return std::nullopt;
  const int hour = Number(clock.substr(0, 2));
  const int minute = Number(clock.substr(3, 2));
  const int second = Number(clock.substr(6, 2));
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

}  // namespace

std::optional<int64_t> ParseHttpDate(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT") || text.substr(3, 2) != ", ") {
    return std::nullopt;
  }
  if (text[7] != ' ' || text[11] != ' ' || text[16] != ' ') return std::nullopt;
  const auto month = std::ranges::find(kMonths, text.substr(8, 3));
  if (month == kMonths.end()) return std::nullopt;
  return UnixSeconds(Number(text.substr(12, 4)), static_cast<int>(month - kMonths.begin()) + 1,
                     Number(text.substr(5, 2)), text.substr(17, 8));
}

int64_t SmallestSkew(int64_t server_s, int64_t sent_ns, int64_t answered_ns) {
  const int64_t least_ns = server_s * kNsPerSecond - answered_ns;
  const int64_t most_ns = (server_s + 1) * kNsPerSecond - sent_ns;
  // Ours went back meanwhile: one that is being set tells nothing.
  if (least_ns > most_ns) return 0;
  return std::clamp<int64_t>(0, least_ns, most_ns);
}

std::optional<int64_t> ParseIsoTime(std::string_view text) {
  if (text.size() < 20 || !text.ends_with('Z') || text[4] != '-' || text[7] != '-' ||
      text[10] != 'T') {
    return std::nullopt;
  }
  const std::string_view fraction = text.substr(19, text.size() - 20);
  if (!fraction.empty() && (fraction[0] != '.' || Number(fraction.substr(1, 9)) < 0)) {
    return std::nullopt;
  }
  return UnixSeconds(Number(text.substr(0, 4)), Number(text.substr(5, 2)),
                     Number(text.substr(8, 2)), text.substr(11, 8));
}

}  // namespace firetower::store::s3
