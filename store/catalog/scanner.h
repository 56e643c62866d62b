// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "base/clock.h"

namespace firetower::store {

// Takes text of exactly the form that we write from the front of the input; returns false for any
// other, which is then parsed as JSON. A query reads hundreds of lines for each profile that it
// merges, and an index of 50 KB: a JSON reader would cost as much as the profiles.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  // Takes a text without escapes, and its closing quote.
  bool Text(std::string& out) {
    const size_t end = PlainBytes();
    if (end == rest_.size() || rest_[end] != '"') return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  // Takes such a text that may have line feeds.
  bool Lines(std::string& out) {
    out.clear();
    for (;;) {
      const size_t end = PlainBytes();
      if (end == rest_.size()) return false;
      out += rest_.substr(0, end);
      rest_.remove_prefix(end);
      if (Skip("\"")) return true;
      if (!Skip("\\n")) return false;
      out += '\n';
    }
  }
  template <typename Integer>
  bool Number(Integer most, Integer& out) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc() || out > most) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  // Takes seconds with at most three decimals.
  bool Seconds(int64_t most_s, int64_t& out_ns) {
    int64_t seconds = 0;
    if (!Number(most_s, seconds) || seconds < 0) return false;
    out_ns = seconds * kNsPerSecond;
    if (!Skip(".")) return true;
    int64_t unit_ns = kNsPerSecond;
    for (int i = 0; i < 3 && !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; ++i) {
      unit_ns /= 10;
      out_ns += (rest_[0] - '0') * unit_ns;
      rest_.remove_prefix(1);
    }
    return unit_ns < kNsPerSecond;
  }
  bool AtEnd() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  // Returns the number of bytes before a quote or backslash, or the end.
  // std::string_view::find_first_of would call memchr for each byte.
  size_t PlainBytes() const {
    size_t count = 0;
    while (count < rest_.size() && rest_[count] != '"' && rest_[count] != '\\') ++count;
    return count;
  }

  std::string_view rest_;
};

}  // namespace firetower::store
