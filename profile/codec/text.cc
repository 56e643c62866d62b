// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"

namespace firetower::profile {

bool LineReader::Next(std::string_view* line) {
  if (rest_.empty()) return false;
  const size_t end = rest_.find('\n');
  *line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line->ends_with('\r')) line->remove_suffix(1);
  ++number_;
  return true;
}

std::string_view TrimLeft(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view TakeWord(std::string_view* text) {
  *text = TrimLeft(*text);
  size_t end = 0;
  while (end < text->size() && !IsBlank((*text)[end])) ++end;
  std::string_view word = text->substr(0, end);
  *text = TrimLeft(text->substr(end));
  return word;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool ParseWhole(std::string_view text, int64_t* out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseHex(std::string_view text, uint64_t* out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out, 16);
  return error == std::errc() && end == text.data() + text.size();
}

std::string Excerpt(std::string_view text) {
  constexpr size_t kMaxBytes = 80;
  std::string out = JsonEscape(text.substr(0, kMaxBytes));
  if (text.size() > kMaxBytes) out += "...";
  return out;
}

Error LineError(std::string_view format, size_t number, std::string_view why, std::string_view line,
                int sys_errno) {
  return {ErrorCode::kCorrupt,
          fmt::format("{} line {}: {}: '{}'", format, number, why, Excerpt(line)), sys_errno};
}

}  // namespace firetower::profile
