// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/perf_line.h"

#include <algorithm>

#include "profile/codec/text.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kUnknown = "[unknown]";
constexpr int64_t kNsPerSecond = 1'000'000'000;

// `12345.678901:`, seconds with as many decimals as perf likes: six, or nine with --ns.
std::optional<int64_t> ParseTime(std::string_view word) {
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

// `123` or `123/456`; perf writes -1 where a task is gone.
bool ParseTask(std::string_view word, PerfHeader* header) {
  auto is_id = [](std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return IsDigits(text);
  };
  const size_t slash = word.find('/');
  std::string_view tid = word.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (!is_id(tid) || !ParseWhole(tid, &header->tid)) return false;
  header->pid.reset();
  if (slash == std::string_view::npos) return true;
  int64_t pid = 0;
  if (!is_id(word.substr(0, slash)) || !ParseWhole(word.substr(0, slash), &pid)) return false;
  header->pid = pid;
  return true;
}

// `[003]`.
std::optional<int64_t> ParseCpu(std::string_view word) {
  int64_t cpu = 0;
  if (word.size() < 3 || word.front() != '[' || word.back() != ']') return std::nullopt;
  word = word.substr(1, word.size() - 2);
  if (!IsDigits(word) || !ParseWhole(word, &cpu)) return std::nullopt;
  return cpu;
}

// The state of interrupts and preemption that some recordings print: `d..2.`.
bool IsTraceFlags(std::string_view word) {
  return word.size() >= 4 && word.size() <= 8 && word.find('.') != std::string_view::npos &&
         std::ranges::all_of(word, [](char c) {
           return c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z');
         });
}

// What follows the task: true when it is the rest of a header.
bool ParseAfterTask(std::string_view text, PerfHeader* header) {
  std::string_view word = TakeWord(&text);
  header->cpu = ParseCpu(word);
  if (header->cpu) word = TakeWord(&text);
  if (IsTraceFlags(word)) word = TakeWord(&text);
  header->time_ns = ParseTime(word);
  if (header->time_ns) word = TakeWord(&text);
  header->period.reset();
  int64_t period = 0;
  if (IsDigits(word) && ParseWhole(word, &period)) {
    header->period = period;
    word = TakeWord(&text);
  }
  if (word.empty()) return header->time_ns && !header->period;  // no event is printed
  if (word.starts_with(kSidebandPrefix)) {
    header->event = word;
    return true;
  }
  if (word.size() < 2 || !word.ends_with(':') || ParseTime(word)) return false;
  word.remove_suffix(1);
  if (IsDigits(word)) return false;
  header->event = word;
  header->rest = text;
  return true;
}

bool IsHex(std::string_view text) {
  return !text.empty() && text.size() <= 16 && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

// `text` without `+0x1f` at its end.
std::string_view WithoutOffset(std::string_view text) {
  const size_t plus = text.rfind("+0x");
  if (plus == std::string_view::npos || !IsHex(text.substr(plus + 3))) return text;
  return text.substr(0, plus);
}

// The position of the bracket that the last one closes; a name may hold some itself.
size_t OpeningBracket(std::string_view text) {
  size_t depth = 0;
  for (size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] == '(' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<PerfHeader> ParsePerfHeader(std::string_view line) {
  line = TrimRight(TrimLeft(line));
  // The name of a thread may hold blanks and numbers: the task is the first number that is followed
  // by what belongs behind it.
  std::string_view rest = line;
  (void)TakeWord(&rest);
  while (!rest.empty()) {
    PerfHeader header;
    std::string_view before = line.substr(0, line.size() - rest.size());
    std::string_view word = TakeWord(&rest);
    if (ParseTask(word, &header) && ParseAfterTask(rest, &header)) {
      header.comm = TrimRight(before);
      return header;
    }
  }
  return std::nullopt;
}

std::optional<PerfFrame> ParsePerfFrame(std::string_view line) {
  std::string_view text = TrimRight(line);
  std::string_view ip = TakeWord(&text);
  PerfFrame frame;
  if (!IsHex(ip) || !ParseHex(ip, &frame.ip)) return std::nullopt;
  if (text.ends_with(')')) {
    const size_t open = OpeningBracket(text);
    if (open == std::string_view::npos || (open > 0 && !IsBlank(text[open - 1]))) {
      // Of a symbol alone: f(int).
      frame.symbol = WithoutOffset(text);
      return frame;
    }
    frame.module = WithoutOffset(text.substr(open + 1, text.size() - open - 2));
    text = TrimRight(text.substr(0, open));
  } else if (text.find(" (") != std::string_view::npos) {
    return std::nullopt;  // cut off
  }
  frame.symbol = WithoutOffset(text);
  frame.inlined = frame.module == "inlined";
  if (frame.symbol == kUnknown) frame.symbol = {};
  if (frame.module == kUnknown || frame.inlined) frame.module = {};
  return frame;
}

std::optional<PerfSourceLine> ParsePerfSourceLine(std::string_view line) {
  std::string_view text = TrimRight(TrimLeft(line));
  const size_t colon = text.rfind(':');
  PerfSourceLine source;
  if (colon == 0 || colon == std::string_view::npos || !IsDigits(text.substr(colon + 1)) ||
      !ParseWhole(text.substr(colon + 1), &source.line)) {
    return std::nullopt;
  }
  source.file = text.substr(0, colon);
  return source;
}

std::string_view PerfEventName(std::string_view event) {
  const size_t colon = event.rfind(':');
  // perf-list(1), "EVENT MODIFIERS".
  constexpr std::string_view kModifiers = "ukhIGHpPSDWeb";
  if (colon == 0 || colon == std::string_view::npos ||
      event.find_first_not_of(kModifiers, colon + 1) != std::string_view::npos) {
    return event;
  }
  return event.substr(0, colon);
}

}  // namespace firetower::profile
