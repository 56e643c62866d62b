// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle/rust_v0_cursor.h"

#include <vector>

#include "symbolizer/demangle/utf8.h"

namespace firetower::symbolizer {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Decoding inserts into the middle; real identifiers have some dozen characters.
constexpr size_t kMaxPunycodeBytes = 256;

// RFC 3492 section 6.1.
uint32_t Adapt(uint32_t delta, uint32_t points, bool first) {
  delta = first ? delta / 700 : delta / 2;
  delta += delta / points;
  uint32_t k = 0;
  for (; delta > 455; k += 36) delta /= 35;
  return k + 36 * delta / (delta + 38);
}

int PunycodeDigit(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  return IsDigit(c) ? c - '0' + 26 : -1;
}

// RFC 3492 section 6.2: one variable-length integer, added to `i`.
bool TakeDelta(std::string_view& digits, uint32_t bias, uint32_t& i) {
  uint32_t weight = 1;
  for (uint32_t k = 36;; k += 36) {
    int digit = digits.empty() ? -1 : PunycodeDigit(digits[0]);
    if (digit < 0) return false;
    digits.remove_prefix(1);
    auto value = static_cast<uint32_t>(digit);
    uint32_t product = 0;
    if (__builtin_mul_overflow(value, weight, &product) || __builtin_add_overflow(i, product, &i)) {
      return false;
    }
    uint32_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
    if (value < threshold) return true;
    if (__builtin_mul_overflow(weight, 36 - threshold, &weight)) return false;
  }
}

bool AppendPunycode(std::string_view bytes, std::string& out) {
  if (bytes.size() > kMaxPunycodeBytes) return false;
  size_t split = bytes.rfind('_');
  std::string_view digits = split == std::string_view::npos ? bytes : bytes.substr(split + 1);
  std::vector<uint32_t> points;
  if (split != std::string_view::npos) points.assign(bytes.begin(), bytes.begin() + split);
  uint32_t code_point = 128;
  uint32_t i = 0;
  uint32_t bias = 72;
  for (bool first = true; !digits.empty(); first = false) {
    uint32_t before = i;
    if (!TakeDelta(digits, bias, i)) return false;
    auto length = static_cast<uint32_t>(points.size() + 1);
    bias = Adapt(i - before, length, first);
    if (__builtin_add_overflow(code_point, i / length, &code_point)) return false;
    i %= length;
    points.insert(points.begin() + i, code_point);
    ++i;
  }
  for (uint32_t point : points) {
    if (!AppendUtf8(point, out)) return false;
  }
  return true;
}

}  // namespace

char RustV0Cursor::Next() {
  if (!ok_ || position_ >= text_.size()) {
    Fail();
    return '\0';
  }
  return text_[position_++];
}

bool RustV0Cursor::Take(char wanted) {
  if (Peek() != wanted) return false;
  ++position_;
  return true;
}

uint64_t RustV0Cursor::Base62() {
  if (Take('_')) return 0;
  uint64_t value = 0;
  while (ok_ && !Take('_')) {
    char c = Next();
    uint64_t digit = 0;
    if (IsDigit(c)) {
      digit = static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'z') {
      digit = static_cast<uint64_t>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'Z') {
      digit = static_cast<uint64_t>(c - 'A') + 36;
    } else {
      Fail();
    }
    if (__builtin_mul_overflow(value, 62, &value) || __builtin_add_overflow(value, digit, &value)) {
      Fail();
    }
  }
  if (__builtin_add_overflow(value, 1, &value)) Fail();
  return ok_ ? value : 0;
}

uint64_t RustV0Cursor::OptionalBase62(char prefix) {
  if (!Take(prefix)) return 0;
  uint64_t value = Base62();
  if (__builtin_add_overflow(value, 1, &value)) Fail();
  return value;
}

RustV0Cursor::Identifier RustV0Cursor::TakeIdentifier() {
  uint64_t disambiguator = OptionalBase62('s');
  Identifier identifier = TakePlainIdentifier();
  identifier.disambiguator = disambiguator;
  return identifier;
}

RustV0Cursor::Identifier RustV0Cursor::TakePlainIdentifier() {
  Identifier identifier;
  identifier.punycode = Take('u');
  if (!IsDigit(Peek())) Fail();
  size_t length = 0;
  // "0" stands alone; no number has a leading zero.
  if (!Take('0')) {
    while (ok_ && IsDigit(Peek()) && length <= text_.size()) {
      length = length * 10 + static_cast<size_t>(Next() - '0');
    }
  }
  Take('_');
  if (!ok_ || length > text_.size() - position_) {
    Fail();
    return {};
  }
  identifier.bytes = text_.substr(position_, length);
  position_ += length;
  return identifier;
}

std::string_view RustV0Cursor::HexNibbles() {
  size_t begin = position_;
  while (ok_ && !Take('_')) {
    char c = Next();
    if (!IsDigit(c) && !(c >= 'a' && c <= 'f')) Fail();
  }
  return ok_ ? text_.substr(begin, position_ - begin - 1) : std::string_view();
}

bool AppendIdentifier(const RustV0Cursor::Identifier& identifier, std::string& out) {
  if (identifier.punycode) return AppendPunycode(identifier.bytes, out);
  out += identifier.bytes;
  return true;
}

}  // namespace firetower::symbolizer
