// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/label.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace firetower::profile {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr std::ptrdiff_t kFewestLetters = 4;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

size_t Chars(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return !IsContinuation(c); }));
}

// Returns the beginnings of a name's scopes, outside of < > and before its parameters.
std::vector<size_t> ScopesOf(std::string_view name) {
  std::vector<size_t> begins = {0};
  size_t depth = 0;
  for (size_t i = 0; i < name.size() && !(depth == 0 && name[i] == '('); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && depth > 0) --depth;
    if (depth == 0 && name.substr(i).starts_with("::")) begins.push_back(i + 2);
  }
  return begins;
}

std::string WithoutTemplates(std::string_view name) {
  const size_t begin = name.find('<');
  const size_t end = name.rfind('>');
  if (begin == 0 || begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return std::string(name);
  return std::string(name.substr(0, begin)).append(name.substr(end + 1));
}

}  // namespace

std::string CutEnd(std::string_view text, size_t max_chars) {
  if (Chars(text) <= max_chars) return std::string(text);
  if (max_chars == 0) return "";
  size_t end = 0;
  for (size_t left = max_chars - 1; left > 0; --left) {
    do ++end;
    while (end < text.size() && IsContinuation(text[end]));
  }
  const std::string_view kept = text.substr(0, end);
  const auto letters = std::ranges::count_if(kept, [](unsigned char c) {
    return std::isalnum(c) != 0 || (c >= 0x80 && !IsContinuation(static_cast<char>(c)));
  });
  return letters < kFewestLetters ? "" : std::string(kept).append(kEllipsis);
}

std::string LabelFor(std::string_view name, size_t max_chars) {
  const std::vector<size_t> scopes = ScopesOf(name);
  for (const size_t left : {scopes.size(), size_t{2}, size_t{1}}) {
    if (left > scopes.size()) continue;
    const std::string_view part = name.substr(scopes[scopes.size() - left]);
    if (Chars(part) <= max_chars) return std::string(part);
  }
  return CutEnd(WithoutTemplates(name.substr(scopes.back())), max_chars);
}

}  // namespace firetower::profile
