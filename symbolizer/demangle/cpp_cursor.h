// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace firetower::symbolizer {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

// The rest of a mangled C++ name. Behind its end are zeros.
class CppCursor {
 public:
  explicit CppCursor(std::string_view rest) : rest_(rest) {}

  bool AtEnd() const { return rest_.empty(); }
  char Peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  char PeekBehind() const { return rest_.size() < 2 ? '\0' : rest_[1]; }
  bool StartsWith(std::string_view text) const { return rest_.starts_with(text); }
  void Skip(size_t bytes = 1) { rest_.remove_prefix(bytes); }
  bool Take(char c) {
    if (Peek() != c) return false;
    Skip();
    return true;
  }

  // Digits, maybe none.
  std::string_view Digits() {
    size_t count = 0;
    while (count < rest_.size() && IsDigit(rest_[count])) ++count;
    return TakeBytes(count);
  }
  // <source-name>: a length and as many bytes; empty if it is none.
  std::string_view SourceName() {
    size_t bytes = 0;
    for (; IsDigit(Peek()) && bytes <= rest_.size(); Skip()) {
      bytes = bytes * 10 + static_cast<size_t>(Peek() - '0');
    }
    return bytes > rest_.size() ? std::string_view() : TakeBytes(bytes);
  }
  // Behind a letter: "_" is 0, "0_" 1, with letters as digits too if `base` is 36.
  std::optional<size_t> Index(size_t base) {
    if (Take('_')) return 0;
    size_t index = 0;
    for (; Peek() != '_'; Skip()) {
      const char c = Peek();
      if (!IsDigit(c) && (base == 10 || !IsUpper(c))) return std::nullopt;
      index = index * base + static_cast<size_t>(IsDigit(c) ? c - '0' : c - 'A' + 10);
      if (index > kMaxIndex) return std::nullopt;
    }
    Skip();
    return index + 1;
  }
  // GCC's marks of a part or copy of a function: ".part.0", ".cold"; empty if it is none.
  std::string_view Clone() {
    const auto is_word = [](char c) { return IsLower(c) || IsDigit(c) || c == '_'; };
    if (Peek() != '.' || !is_word(PeekBehind())) return {};
    size_t end = 2;
    while (end < rest_.size() && is_word(rest_[end])) ++end;
    while (end + 1 < rest_.size() && rest_[end] == '.' && IsDigit(rest_[end + 1])) {
      end += 2;
      while (end < rest_.size() && IsDigit(rest_[end])) ++end;
    }
    return TakeBytes(end);
  }

 private:
  static constexpr size_t kMaxIndex = 4096;

  std::string_view TakeBytes(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    Skip(count);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace firetower::symbolizer
