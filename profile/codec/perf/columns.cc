// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/perf/columns.h"

#include <algorithm>

#include "profile/codec/perf/head.h"
#include "profile/codec/text.h"

namespace firetower::profile {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

size_t CountBlanks(std::string_view text) {
  return std::min(text.find_first_not_of(' '), text.size());
}

// The size of the word that `text` begins with.
size_t WordSize(std::string_view text) { return std::min(text.find(' '), text.size()); }

// True when a word of `size` bytes behind `blanks` is one that is right-aligned in `width`.
bool FillsWidth(size_t blanks, size_t size, size_t width) {
  return blanks + size == std::max(width, size);
}

// perf prints no zeros in front; a name may end in `007`.
bool IsNumber(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return IsDigits(word) && (word.size() == 1 || word.front() != '0');
}

// True for text of which each digit stands where `form` has a 0, and all else is the same.
bool HasForm(std::string_view text, std::string_view form) {
  return std::ranges::equal(text, form, [](char c, char wanted) {
    return wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
  });
}

}  // namespace

std::optional<int64_t> ParsePerfTime(std::string_view word) {
  if (!word.ends_with(':')) return std::nullopt;
  word.remove_suffix(1);
  const size_t dot = word.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::string_view decimals = word.substr(dot + 1);
  int64_t seconds = 0;
  int64_t fraction = 0;
  if (!IsDigits(word.substr(0, dot)) || !IsDigits(decimals) || decimals.size() > 9 ||
      !ParseWhole(word.substr(0, dot), &seconds) || !ParseWhole(decimals, &fraction)) {
    return std::nullopt;
  }
  for (size_t digit = decimals.size(); digit < 9; ++digit) fraction *= 10;
  int64_t time_ns = 0;
  if (__builtin_mul_overflow(seconds, kNsPerSecond, &time_ns) ||
      __builtin_add_overflow(time_ns, fraction, &time_ns)) {
    return std::nullopt;
  }
  return time_ns;
}

std::optional<int64_t> ParsePerfCpu(std::string_view word) {
  int64_t cpu = 0;
  if (word.size() < 3 || word.front() != '[' || word.back() != ']') return std::nullopt;
  word = word.substr(1, word.size() - 2);
  if (!IsDigits(word) || !ParseWhole(word, &cpu)) return std::nullopt;
  return cpu;
}

bool IsPerfEventWord(std::string_view word) {
  if (IsPerfSideband(word)) return true;
  if (word.size() < 2 || !word.ends_with(':') || ParsePerfTime(word)) return false;
  // Beginnings of the values of other fields.
  for (std::string_view other : {"insn:", "ilen:", "IPC:", "metric:"}) {
    if (word == other) return false;
  }
  return word.find_first_not_of("0123456789.:") != std::string_view::npos;
}

bool PerfColumns::Drop(size_t size) {
  if (size < rest_.size() && rest_[size] != ' ') return false;
  rest_.remove_prefix(std::min(size + 1, rest_.size()));
  return true;
}

std::optional<int64_t> PerfColumns::TakeNumber(size_t width) {
  const size_t blanks = CountBlanks(rest_);
  std::string_view word = rest_.substr(blanks, WordSize(rest_.substr(blanks)));
  int64_t number = 0;
  if (!FillsWidth(blanks, word.size(), width) || !IsNumber(word) || !ParseWhole(word, &number) ||
      !Drop(blanks + word.size())) {
    return std::nullopt;
  }
  return number;
}

bool PerfColumns::TakePair(size_t width, int64_t* pid, int64_t* tid) {
  const size_t blanks = CountBlanks(rest_);
  std::string_view word = rest_.substr(blanks, WordSize(rest_.substr(blanks)));
  const size_t slash = word.find('/');
  if (slash == std::string_view::npos || !FillsWidth(blanks, slash, width)) return false;
  std::string_view second = word.substr(slash + 1);
  if (!IsNumber(word.substr(0, slash)) || !ParseWhole(word.substr(0, slash), pid) ||
      !IsNumber(second) || !ParseWhole(second, tid)) {
    return false;
  }
  // The second one is padded on its right.
  const size_t end = blanks + slash + 1 + std::max(second.size(), width);
  std::string_view padding = rest_.substr(std::min(blanks + word.size(), rest_.size()));
  const size_t wanted = end - (blanks + word.size());
  if (CountBlanks(padding) < std::min(wanted, padding.size())) return false;
  return Drop(end);
}

std::optional<int64_t> PerfColumns::TakeCpu() {
  const size_t size = WordSize(rest_);
  // At least three digits, with zeros in front.
  if (size < 5) return std::nullopt;
  std::optional<int64_t> cpu = ParsePerfCpu(rest_.substr(0, size));
  if (!cpu || !Drop(size)) return std::nullopt;
  return cpu;
}

bool PerfColumns::TakeMisc(bool* has_letters) {
  constexpr size_t kWidth = 6;  // with the blank behind it
  constexpr std::string_view kLetters = "KUHGgMESp";
  const size_t letters = std::min(rest_.find_first_not_of(kLetters), rest_.size());
  if (letters >= kWidth) return false;
  if (CountBlanks(rest_.substr(letters)) < std::min(kWidth, rest_.size()) - letters) return false;
  *has_letters = letters > 0;
  rest_.remove_prefix(std::min(kWidth, rest_.size()));
  return true;
}

bool PerfColumns::TakeTimeOfDay() {
  if (rest_.starts_with("N/A ")) return Drop(3);
  constexpr std::string_view kForm = "0000-00-00 00:00:00.000000";
  constexpr size_t kNanoseconds = 3;  // with --ns
  if (!HasForm(rest_.substr(0, kForm.size()), kForm)) return false;
  if (HasForm(rest_.substr(kForm.size(), kNanoseconds), "000")) {
    return Drop(kForm.size() + kNanoseconds);
  }
  return Drop(kForm.size());
}

std::optional<int64_t> PerfColumns::TakeTime() {
  constexpr size_t kWidth = 12;    // of microseconds
  constexpr size_t kNsWidth = 15;  // of nanoseconds: five digits in front of the dot
  const size_t blanks = CountBlanks(rest_);
  std::string_view word = rest_.substr(blanks, WordSize(rest_.substr(blanks)));
  std::optional<int64_t> time_ns = ParsePerfTime(word);
  if (!time_ns) return std::nullopt;
  const size_t digits = word.size() - 1;
  const size_t decimals = digits - word.find('.') - 1;
  if (decimals != 6 && decimals != 9) return std::nullopt;
  const size_t width = decimals == 9 ? kNsWidth : kWidth;
  if (!FillsWidth(blanks, digits, width) || !Drop(blanks + word.size())) return std::nullopt;
  return time_ns;
}

std::optional<std::string_view> PerfColumns::TakeEvent() {
  const size_t blanks = CountBlanks(rest_);
  size_t size = WordSize(rest_.substr(blanks));
  // The one kind of event whose name has a blank: `raw 0x1a8`.
  if (rest_.substr(blanks).starts_with("raw 0x")) size = 4 + WordSize(rest_.substr(blanks + 4));
  std::string_view word = rest_.substr(blanks, size);
  if (!IsPerfEventWord(word) || !Drop(blanks + size)) return std::nullopt;
  if (!IsPerfSideband(word)) word.remove_suffix(1);
  return word;
}

}  // namespace firetower::profile
