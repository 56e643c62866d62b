// SPDX-License-Identifier: Apache-2.0
#include "k8s/document/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace firetower::k8s {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kNano = 1000000000;

struct Suffix {
  std::string_view text;
  int64_t multiplier;
};
constexpr std::array<Suffix, 9> kSuffixes = {{{"", 1},
                                              {"k", 1000},
                                              {"M", 1000000},
                                              {"G", 1000000000},
                                              {"T", 1000000000000},
                                              {"Ki", 1LL << 10},
                                              {"Mi", 1LL << 20},
                                              {"Gi", 1LL << 30},
                                              {"Ti", 1LL << 40}}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t CountDigits(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
}

// Multiplies the fraction 0.d1d2… by `factor` (at most 2^40) in place, and returns the integer part
// of the product. Exact for any number of digits: no intermediate product exceeds 10 × 2^40 +
// carry.
int64_t MultiplyFraction(std::string& digits, int64_t factor) {
  int64_t carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const int64_t product = (*digit - '0') * factor + carry;
    *digit = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  return carry;
}

std::optional<int64_t> ParseInteger(std::string_view digits) {
  int64_t value = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
        __builtin_add_overflow(value, int64_t{c - '0'}, &value))
      return std::nullopt;
  }
  return value;
}

Error Invalid() {
  return Error(ErrorCode::kInvalid,
               "write digits, maybe with decimals, then nothing or one of "
               "m k M G T Ki Mi Gi Ti (50m, 1.5, 1Gi)");
}
Error TooLarge() { return Error(ErrorCode::kExhausted, "larger than 9223372036854775807"); }

}  // namespace

int64_t Quantity::MilliRoundedUp() const {
  constexpr int32_t kNanosPerMilli = 1000000;
  int64_t result = 0;
  if (__builtin_mul_overflow(units, int64_t{1000}, &result) ||
      __builtin_add_overflow(result, int64_t{(nanos + kNanosPerMilli - 1) / kNanosPerMilli},
                             &result))
    return kMax;
  return result;
}

int64_t Quantity::RoundedUp() const { return nanos > 0 && units < kMax ? units + 1 : units; }

Result<Quantity> ParseQuantity(std::string_view text) {
  if (text.size() > kMaxQuantityBytes) return Invalid();
  const std::string_view whole = text.substr(0, CountDigits(text));
  if (whole.empty()) return Invalid();
  text.remove_prefix(whole.size());
  std::string fraction;
  if (text.starts_with('.')) {
    fraction = text.substr(1, CountDigits(text.substr(1)));
    if (fraction.empty()) return Invalid();
    text.remove_prefix(1 + fraction.size());
  }
  const std::optional<int64_t> integer = ParseInteger(whole);

  Quantity result;
  if (text == "m") {
    if (!integer) return TooLarge();
    result.units = *integer / 1000;
    result.nanos = static_cast<int32_t>(*integer % 1000 * (kNano / 1000) +
                                        MultiplyFraction(fraction, kNano / 1000));
  } else {
    const auto suffix = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                     [&](const Suffix& known) { return known.text == text; });
    if (suffix == kSuffixes.end()) return Invalid();
    if (!integer || __builtin_mul_overflow(*integer, suffix->multiplier, &result.units) ||
        __builtin_add_overflow(result.units, MultiplyFraction(fraction, suffix->multiplier),
                               &result.units))
      return TooLarge();
    result.nanos = static_cast<int32_t>(MultiplyFraction(fraction, kNano));
  }
  const bool finer = std::any_of(fraction.begin(), fraction.end(), [](char c) { return c != '0'; });
  if (finer && ++result.nanos == kNano) {
    if (result.units == kMax) return TooLarge();
    result.nanos = 0;
    ++result.units;
  }
  return result;
}

}  // namespace firetower::k8s
