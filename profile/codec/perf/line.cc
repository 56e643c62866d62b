// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/perf/line.h"

#include <algorithm>

#include "profile/codec/text.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kUnknown = "[unknown]";
constexpr std::string_view kInlined = " (inlined)";

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

// True for a term of an event that says how it is recorded, not what is counted: perf-record(1),
// -e.
bool IsRecordingTerm(std::string_view term) {
  constexpr std::string_view kTerms[] = {
      "freq",       "period",     "time",         "call-graph",     "stack-size", "inherit",
      "no-inherit", "overwrite",  "no-overwrite", "max-stack",      "nr",         "driver-config",
      "percore",    "aux-output", "aux-action",   "aux-sample-size"};
  return std::ranges::find(kTerms, term.substr(0, term.find('='))) != std::end(kTerms);
}

// True for a name of perf-list(1) that is no tracepoint's: a modifier may stand behind its colon.
// A tracepoint's own name may consist of a modifier's letters.
bool TakesModifiers(std::string_view name) {
  constexpr std::string_view kNames[] = {"cycles",
                                         "cpu-cycles",
                                         "instructions",
                                         "cache-references",
                                         "cache-misses",
                                         "branches",
                                         "branch-misses",
                                         "branch-instructions",
                                         "bus-cycles",
                                         "stalled-cycles-frontend",
                                         "ref-cycles",
                                         "stalled-cycles-backend",
                                         "cpu-clock",
                                         "idle-cycles-frontend",
                                         "task-clock",
                                         "idle-cycles-backend",
                                         "page-faults",
                                         "faults",
                                         "context-switches",
                                         "cs",
                                         "cpu-migrations",
                                         "migrations",
                                         "minor-faults",
                                         "major-faults",
                                         "alignment-faults",
                                         "emulation-faults",
                                         "dummy",
                                         "bpf-output",
                                         "cgroup-switches"};
  constexpr std::string_view kCaches[] = {"L1-dcache-", "L1-icache-", "LLC-", "dTLB-",
                                          "iTLB-",      "branch-",    "node-"};
  if (std::ranges::find(kNames, name) != std::end(kNames)) return true;
  if (name.starts_with('r') && IsHex(name.substr(1))) return true;
  return std::ranges::any_of(kCaches, [&](auto cache) { return name.starts_with(cache); });
}

}  // namespace

std::optional<PerfFrame> ParsePerfFrame(std::string_view line, bool has_modules) {
  std::string_view text = TrimRight(line);
  std::string_view ip = TakeWord(&text);
  PerfFrame frame;
  if (!IsHex(ip) || !ParseHex(ip, &frame.ip)) return std::nullopt;
  if (!has_modules) {
    frame.inlined = text.ends_with(kInlined);
    if (frame.inlined) text.remove_suffix(kInlined.size());
    frame.symbol = WithoutOffset(text);
    if (frame.symbol == kUnknown) frame.symbol = {};
    return frame;
  }
  if (text.ends_with(')')) {
    const size_t open = OpeningBracket(text);
    if (open == std::string_view::npos || (open > 0 && !IsBlank(text[open - 1]))) {
      // This end is of a symbol alone: f(int).
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

std::optional<bool> EndsInPerfModule(std::string_view line) {
  std::string_view text = TrimRight(line);
  if (TakeWord(&text).empty() || text.empty() || text.ends_with(kInlined)) return std::nullopt;
  if (!text.ends_with(')')) {
    const bool is_whole = WithoutOffset(text) != text || text.find(" (") == std::string_view::npos;
    return is_whole ? std::optional(false) : std::nullopt;
  }
  // Modules are paths, or have a name in brackets.
  const size_t open = OpeningBracket(text);
  if (open == std::string_view::npos || (open > 0 && !IsBlank(text[open - 1]))) return std::nullopt;
  const char first = text[open + 1];
  return first == '/' || first == '[' ? std::optional(true) : std::nullopt;
}

PerfRestFrame FindPerfFrame(std::string_view rest, bool padded) {
  constexpr size_t kAddressWidth = 16;
  PerfRestFrame found;
  if (!padded) {
    std::string_view text = rest;
    if (rest.ends_with(')') && IsHex(TakeWord(&text))) found.frame = rest;
    return found;
  }
  // A blank, then the address in its width: no other number has that much room.
  for (size_t at = 0; at < rest.size();) {
    const size_t word = rest.find_first_not_of(' ', at);
    if (word == std::string_view::npos) break;
    const size_t end = std::min(rest.find(' ', word), rest.size());
    const bool roomy = end > kAddressWidth && end - word <= kAddressWidth &&
                       word - at + (end - word) > kAddressWidth - (at == 0 ? 0 : 1);
    // A data source of a sample has the same form, and its text behind it.
    if (roomy && IsHex(rest.substr(word, end - word)) && !rest.substr(end).starts_with(" |OP ")) {
      found.several = found.several || !found.frame.empty();
      found.frame = rest.substr(word);
      found.before = rest.substr(0, word);
    }
    at = end + 1;
  }
  return found;
}

bool IsPerfFrameLine(std::string_view line, bool* narrow) {
  if (!line.starts_with('\t')) return false;
  constexpr size_t kAddressEnd = 17;
  std::string_view text = line;
  std::string_view word = TakeWord(&text);
  if (!IsHex(word)) return false;
  *narrow = static_cast<size_t>(word.end() - line.begin()) < kAddressEnd;
  return true;
}

std::string_view PerfTrailingFields(std::string_view text) {
  std::string_view word = TakeWord(&text);
  if (word.starts_with("ABI:")) return "iregs or uregs";
  if (word == "insn:") return "insn";
  if (word == "ilen:") return "insnlen";
  if (word == "IPC:") return "ipc";
  if (word == "metric:") return "metric";
  if (word == "BPF") return "bpf-output";
  if (word.starts_with("0x")) return "brstack, brstacksym or brstackoff";
  if (word.starts_with('|')) return "srccode";
  if (word == "N/A" || word == "4K" || word == "2M" || word == "1G") {
    return "data_page_size or code_page_size";
  }
  if (IsHex(word) && text.empty()) return kPerfPhysAddr;
  return {};
}

bool IsPerfFieldText(std::string_view text, bool padded) {
  constexpr size_t kNumberWidth = 16;
  // -F flags: linux/tools/perf/util/trace-event-scripting.c.
  constexpr std::string_view kFlags[] = {"call",    "return", "jcc", "jmp",   "int", "iret",
                                         "syscall", "sysret", "hw",  "async", "tx",  "tr",
                                         "vmentry", "(x)",    "br",  "vmexit"};
  std::string_view rest = text;
  std::string_view word = TakeWord(&rest);
  if (word.empty()) return true;
  // An address, a weight and the like; one that is narrower is the rest of a frame.
  if (padded && IsHex(word)) {
    return static_cast<size_t>(word.end() - text.begin()) == std::max(kNumberWidth, word.size());
  }
  if (text.starts_with(' ') && word.starts_with('/')) return true;  // a cgroup
  if (text.starts_with("  ") && std::ranges::find(kFlags, word) != std::end(kFlags)) return true;
  return !PerfTrailingFields(text).empty();
}

std::optional<PerfSourceLine> ParsePerfSourceLine(std::string_view line) {
  std::string_view text = TrimRight(TrimLeft(line));
  PerfSourceLine source;
  source.inlined = text.ends_with(kInlined);
  if (source.inlined) text = TrimRight(text.substr(0, text.size() - kInlined.size()));
  const size_t discriminator = text.rfind(" (discriminator ");
  if (discriminator != std::string_view::npos) text = text.substr(0, discriminator);
  const size_t bracket = text.rfind('[');
  if (text.ends_with(']') && bracket != std::string_view::npos && bracket > 0 &&
      IsHex(text.substr(bracket + 1, text.size() - bracket - 2))) {
    return source;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view number = text.substr(colon + 1);
  if (number == "?") return source;
  if (!IsDigits(number) || !ParseWhole(number, &source.line)) return std::nullopt;
  source.file = text.substr(0, colon);
  if (source.file == "??") source = {.inlined = source.inlined};
  return source;
}

std::string PerfEventName(std::string_view event) {
  constexpr std::string_view kSoftware = "software/";
  // perf-list(1), "EVENT MODIFIERS".
  constexpr std::string_view kModifiers = "ukhIGHpPSDWebRX";
  auto only_modifiers = [&](size_t from) {
    return event.find_first_not_of(kModifiers, from) == std::string_view::npos;
  };
  const size_t first = event.find('/');
  const size_t last = event.rfind('/');
  if (first != std::string_view::npos && first > 0 && last > first && only_modifiers(last + 1)) {
    std::string_view terms = event.substr(first + 1, last - first - 1);
    std::string kept;
    while (!terms.empty()) {
      const size_t comma = std::min(terms.find(','), terms.size());
      std::string_view term = terms.substr(0, comma);
      terms.remove_prefix(std::min(comma + 1, terms.size()));
      if (IsRecordingTerm(term)) continue;
      kept += (kept.empty() ? "" : ",") + std::string(term);
    }
    if (last == first + 1) return std::string(event);
    if (kept.empty()) return std::string(event.substr(0, first));
    if (event.starts_with(kSoftware)) return kept;
    return std::string(event.substr(0, first + 1)) + kept + "/";
  }
  const size_t colon = event.rfind(':');
  if (colon == std::string_view::npos || !only_modifiers(colon + 1) ||
      !TakesModifiers(event.substr(0, colon))) {
    return std::string(event);
  }
  return std::string(event.substr(0, colon));
}

}  // namespace firetower::profile
