// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/xml_text.h"

#include <algorithm>

#include "base/json.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Nothing where the character may stand as it is.
std::string_view Escaped(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\t':
    case '\n':
    case '\r':
      return " ";
    default:
      return static_cast<unsigned char>(c) < 0x20 ? kReplacement : "";
  }
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string valid = ToValidUtf8(text);
  std::string out;
  out.reserve(valid.size());
  for (size_t i = 0; i < valid.size(); ++i) {
    std::string_view rest = std::string_view(valid).substr(i);
    // U+FFFE and U+FFFF, the two that XML 1.0 §2.2 leaves out beside controls and surrogates.
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      out += kReplacement;
      i += 2;
      continue;
    }
    std::string_view escaped = Escaped(valid[i]);
    if (escaped.empty()) {
      out += valid[i];
    } else {
      out += escaped;
    }
  }
  return out;
}

std::string CutMiddle(std::string_view text, size_t max_chars) {
  if (max_chars < 3) return "";
  auto chars =
      static_cast<size_t>(std::ranges::count_if(text, [](char c) { return !IsContinuation(c); }));
  if (chars <= max_chars) return std::string(text);
  const size_t tail = (max_chars - 1) / 2;
  size_t begin = 0;
  for (size_t left = max_chars - 1 - tail; left > 0; --left) {
    do ++begin;
    while (begin < text.size() && IsContinuation(text[begin]));
  }
  size_t end = text.size();
  for (size_t left = tail; left > 0; --left) {
    do --end;
    while (end > 0 && IsContinuation(text[end]));
  }
  return std::string(text.substr(0, begin)).append(kEllipsis).append(text.substr(end));
}

}  // namespace firetower::profile
