// SPDX-License-Identifier: Apache-2.0
#include "profile/select/string_literal.h"

#include <cstdint>
#include <optional>

#include "base/text/utf8.h"

namespace firetower::profile {
namespace {

std::optional<uint32_t> Number(std::string_view digits, size_t count, uint32_t base) {
  if (digits.size() < count) return std::nullopt;
  uint32_t value = 0;
  for (char c : digits.substr(0, count)) {
    uint32_t digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A') + 10;
    if (digit >= base) return std::nullopt;
    value = value * base + digit;
  }
  return value;
}

// Reads the escape behind a backslash; returns the bytes used, 0 when there is none such.
size_t ReadEscape(std::string_view text, char quote, std::string* out) {
  if (text.empty()) return 0;
  constexpr std::string_view kNames = "abfnrtv\\";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\";
  char kind = text.front();
  if (size_t at = kNames.find(kind); at != std::string_view::npos) {
    out->push_back(kValues[at]);
    return 1;
  }
  if (kind == quote) {
    out->push_back(quote);
    return 1;
  }
  if (kind >= '0' && kind <= '7') {
    std::optional<uint32_t> byte = Number(text, 3, 8);
    if (!byte || *byte > 255) return 0;
    out->push_back(static_cast<char>(*byte));
    return 3;
  }
  if (kind == 'x') {
    std::optional<uint32_t> byte = Number(text.substr(1), 2, 16);
    if (!byte) return 0;
    out->push_back(static_cast<char>(*byte));
    return 3;
  }
  if (kind == 'u' || kind == 'U') {
    size_t digits = kind == 'u' ? 4 : 8;
    std::optional<uint32_t> point = Number(text.substr(1), digits, 16);
    if (!point || *point > 0x10FFFF || (*point >= 0xD800 && *point < 0xE000)) return 0;
    AppendUtf8(*point, *out);
    return digits + 1;
  }
  return 0;
}

}  // namespace

StringLiteral ReadStringLiteral(std::string_view text) {
  StringLiteral literal;
  char quote = text.front();
  size_t at = 1;
  while (at < text.size()) {
    char c = text[at];
    if (c == quote) {
      literal.length = at + 1;
      return literal;
    }
    const bool raw = quote == '`';
    if (!raw && c == '\n') break;
    if (!raw && c == '\\') {
      size_t used = ReadEscape(text.substr(at + 1), quote, &literal.value);
      if (used == 0) return {.length = at, .problem = "unknown escape"};
      at += 1 + used;
    } else {
      literal.value.push_back(c);
      ++at;
    }
  }
  return {.length = at, .problem = "the string is not closed"};
}

}  // namespace firetower::profile
