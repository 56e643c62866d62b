// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <fmt/core.h>

#include <array>
#include <limits>

#include "base/clock.h"

namespace firetower {
namespace {

struct Unit {
  std::string_view name;
  int64_t size;
};

constexpr int64_t kMinuteNs = 60 * kNsPerSecond;
// Largest first: FormatDuration takes them in this order.
constexpr std::array<Unit, 9> kTimeUnits{{{"d", 24 * 60 * kMinuteNs},
                                          {"h", 60 * kMinuteNs},
                                          {"m", kMinuteNs},
                                          {"s", kNsPerSecond},
                                          {"ms", kNsPerMs},
                                          {"us", 1000},
                                          {"ns", 1},
                                          {"\u00b5s", 1000},    // micro sign
                                          {"\u03bcs", 1000}}};  // Greek mu: Go takes both
constexpr size_t kPrintedTimeUnits = 7;

constexpr std::array<Unit, 11> kByteUnits{{{"Pi", int64_t{1} << 50},
                                           {"Ti", int64_t{1} << 40},
                                           {"Gi", int64_t{1} << 30},
                                           {"Mi", int64_t{1} << 20},
                                           {"Ki", int64_t{1} << 10},
                                           {"", 1},
                                           {"k", 1'000},
                                           {"M", 1'000'000},
                                           {"G", 1'000'000'000},
                                           {"T", 1'000'000'000'000},
                                           {"P", 1'000'000'000'000'000}}};
constexpr size_t kPrintedByteUnits = 5;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// An unsigned decimal: whole + fraction / scale. At most 18 and 9 digits, so neither overflows.
struct Decimal {
  int64_t whole = 0;
  int64_t fraction = 0;
  int64_t scale = 1;
};

// Takes a decimal from the front of `text`; false when there is none or it is too long.
bool TakeDecimal(std::string_view& text, Decimal& out) {
  size_t digits = 0;
  for (; !text.empty() && IsDigit(text[0]); text.remove_prefix(1)) {
    if (++digits > 18) return false;
    out.whole = out.whole * 10 + (text[0] - '0');
  }
  if (text.empty() || text[0] != '.') return digits > 0;
  text.remove_prefix(1);
  for (; !text.empty() && IsDigit(text[0]); text.remove_prefix(1)) {
    if (out.scale >= kNsPerSecond) return false;
    ++digits;
    out.fraction = out.fraction * 10 + (text[0] - '0');
    out.scale *= 10;
  }
  return digits > 0;
}

template <size_t kCount>
const Unit* FindUnit(const std::array<Unit, kCount>& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// `total` += number × unit, rounded up to a whole; false on overflow.
bool AddScaled(const Decimal& number, int64_t unit, int64_t& total) {
  int64_t whole = 0;
  if (__builtin_mul_overflow(number.whole, unit, &whole)) return false;
  // fraction × unit / scale, with unit taken apart so that no product overflows.
  int64_t part = number.fraction * (unit / number.scale) +
                 (number.fraction * (unit % number.scale) + number.scale - 1) / number.scale;
  return !__builtin_add_overflow(whole, part, &whole) &&
         !__builtin_add_overflow(total, whole, &total);
}

Error BadDuration(std::string_view text, std::string_view why) {
  return Error(
      ErrorCode::kInvalid,
      fmt::format("'{}' is not a duration: {}; write for example 90s, 1h30m or 14d", text, why));
}

Error BadBytes(std::string_view text, std::string_view why) {
  return Error(ErrorCode::kInvalid,
               fmt::format("'{}' is not a number of bytes: {}; write for example 1048576, 512Ki or "
                           "2Gi",
                           text, why));
}

}  // namespace

Result<int64_t> ParseDurationNs(std::string_view text) {
  if (text == "0") return int64_t{0};
  if (text.empty()) return BadDuration(text, "it is empty");
  int64_t total = 0;
  for (std::string_view rest = text; !rest.empty();) {
    Decimal number;
    if (!TakeDecimal(rest, number)) return BadDuration(text, "a number is missing or too long");
    size_t end = 0;
    while (end < rest.size() && !IsDigit(rest[end]) && rest[end] != '.') ++end;
    const Unit* unit = FindUnit(kTimeUnits, rest.substr(0, end));
    if (unit == nullptr) {
      return BadDuration(
          text, end == 0 ? "the unit is missing" : "the units are d, h, m, s, ms, us and ns");
    }
    if (!AddScaled(number, unit->size, total)) return BadDuration(text, "it is too long");
    rest.remove_prefix(end);
  }
  return total;
}

std::string FormatDuration(int64_t ns) {
  if (ns <= 0) return "0s";
  std::string out;
  for (size_t i = 0; i < kPrintedTimeUnits; ++i) {
    const Unit& unit = kTimeUnits[i];
    if (ns >= unit.size) out += fmt::format("{}{}", ns / unit.size, unit.name);
    ns %= unit.size;
  }
  return out;
}

Result<int64_t> ParseBytes(std::string_view text) {
  std::string_view rest = text;
  Decimal number;
  if (!TakeDecimal(rest, number)) return BadBytes(text, "it does not start with a number");
  const Unit* unit = FindUnit(kByteUnits, rest);
  if (unit == nullptr) {
    return BadBytes(text, "the suffixes are k, M, G, T, P, Ki, Mi, Gi, Ti and Pi");
  }
  int64_t total = 0;
  if (!AddScaled(number, unit->size, total)) return BadBytes(text, "it is too large");
  return total;
}

std::string FormatBytes(int64_t bytes) {
  for (size_t i = 0; i < kPrintedByteUnits && bytes > 0; ++i) {
    const Unit& unit = kByteUnits[i];
    if (bytes % unit.size == 0) return fmt::format("{}{}", bytes / unit.size, unit.name);
  }
  return fmt::format("{}", bytes);
}

}  // namespace firetower
