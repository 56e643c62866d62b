// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/perf/head.h"

#include <algorithm>

#include "profile/codec/perf/columns.h"
#include "profile/codec/text.h"

namespace firetower::profile {
namespace {

constexpr size_t kPeriodWidth = 10;
constexpr size_t kTimeWidth = 12;
constexpr int64_t kMaxTask = 1 << 22;    // PID_MAX_LIMIT of Linux
constexpr size_t kMiscWidth = 6;         // with the blank behind it
constexpr size_t kPaddedCommBytes = 16;  // of samples that are printed without a call graph

bool TakeTask(PerfTask task, PerfColumns* columns, PerfHeader* header) {
  constexpr size_t kWidth = 5;
  constexpr size_t kWidthSince62 = 7;
  int64_t pid = 0;
  int64_t tid = 0;
  switch (task) {
    case PerfTask::kNone:
      return true;
    case PerfTask::kOne5:
    case PerfTask::kOne7:
      header->tid = columns->TakeNumber(task == PerfTask::kOne5 ? kWidth : kWidthSince62);
      return header->tid.has_value() && *header->tid <= kMaxTask;
    case PerfTask::kPair5:
    case PerfTask::kPair7:
      if (!columns->TakePair(task == PerfTask::kPair5 ? kWidth : kWidthSince62, &pid, &tid)) {
        return false;
      }
      header->pid = pid;
      header->tid = tid;
      return true;
  }
  return false;
}

// True when one of the first words is that of a column, which would be in another place.
bool HoldsEventOrTime(std::string_view rest) {
  for (int word = 0; word < 2; ++word) {
    std::string_view taken = TakeWord(&rest);
    if (ParsePerfTime(taken) || IsPerfEventWord(taken)) return true;
  }
  return false;
}

// All that stands behind the name.
std::optional<PerfHeader> MatchColumns(std::string_view text, const PerfLayout& layout) {
  PerfHeader header;
  PerfColumns columns(text);
  if (!TakeTask(layout.task, &columns, &header)) return std::nullopt;
  header.cpu = columns.TakeCpu();
  if (layout.misc && !columns.TakeMisc(&header.has_misc)) return std::nullopt;
  if (layout.tod && !columns.TakeTimeOfDay()) return std::nullopt;
  if (layout.time) {
    header.time_ns = columns.TakeTime();
    if (!header.time_ns) return std::nullopt;
  }
  header.period = columns.TakeNumber(kPeriodWidth);
  if (header.period && *header.period < 0) return std::nullopt;
  if (layout.event || IsPerfSideband(columns.rest())) {
    std::optional<std::string_view> event = columns.TakeEvent();
    if (!event) return std::nullopt;
    header.event = *event;
  } else if ((!layout.time && !header.cpu) || HoldsEventOrTime(columns.rest())) {
    return std::nullopt;
  }
  header.rest = columns.rest();
  return header;
}

std::optional<PerfHeader> MatchPadded(std::string_view line, const PerfLayout& layout) {
  if (!layout.comm) return MatchColumns(line, layout);
  auto match = [&](size_t end) -> std::optional<PerfHeader> {
    if (end < line.size() && line[end] != ' ') return std::nullopt;
    auto header = MatchColumns(line.substr(std::min(end + 1, line.size())), layout);
    if (!header) return header;
    header->comm = line.substr(0, end);
    // perf pads a name on its left.
    if (end == kPaddedCommBytes) {
      header->comm.remove_prefix(std::min(header->comm.find_first_not_of(' '), end));
    }
    return header;
  };
  if (line.starts_with(' ') && !layout.blank_names) {
    if (line.size() >= kPaddedCommBytes && line[kPaddedCommBytes - 1] != ' ') {
      if (auto header = match(kPaddedCommBytes)) return header;
    }
    return match(0);  // a thread without a name
  }
  if (line.starts_with(' ') && line.size() >= kPaddedCommBytes) {
    if (auto header = match(kPaddedCommBytes)) return header;
  }
  // A name may hold what looks like columns, but then it is followed by them once more.
  std::optional<PerfHeader> found;
  for (size_t end = line.find(' '); end <= kMaxPerfCommBytes; end = line.find(' ', end + 1)) {
    // Blanks at the end of a name look like those that pad the column behind it.
    if (!layout.blank_names && line[end - 1] == ' ') continue;
    auto header = match(end);
    if (!header) continue;
    // Without a task a longer name would only hold the CPU or the period as well.
    if (layout.task == PerfTask::kNone) return header;
    if (found) {
      found->ambiguous = true;
      break;
    }
    found = header;
  }
  return found;
}

// `123` or `123/456`; perf writes -1 where a task is gone.
bool ParseTask(std::string_view word, PerfHeader* header) {
  auto parse = [](std::string_view text) -> std::optional<int64_t> {
    int64_t id = 0;
    if (!IsDigits(text.substr(text.starts_with('-') ? 1 : 0)) || !ParseWhole(text, &id)) {
      return std::nullopt;
    }
    return id;
  };
  const size_t slash = word.find('/');
  header->tid = parse(word.substr(slash == std::string_view::npos ? 0 : slash + 1));
  if (slash != std::string_view::npos) header->pid = parse(word.substr(0, slash));
  return header->tid && (slash == std::string_view::npos || header->pid);
}

// The state of interrupts and preemption that some recordings print: `d..2.`.
bool IsTraceFlags(std::string_view word) {
  return word.size() >= 4 && word.size() <= 8 && word.find('.') != std::string_view::npos &&
         std::ranges::all_of(word, [](char c) {
           return c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z');
         });
}

bool IsMisc(std::string_view word) {
  return !word.empty() && word.size() <= 4 &&
         word.find_first_not_of("KUHGgMESp") == std::string_view::npos;
}

// True when `word`, which lies in `text` behind others, begins less than `width` before its end.
bool IsNarrow(std::string_view before, std::string_view word, size_t width) {
  const size_t blanks = before.size() - TrimRight(before).size();
  return word.size() + std::max<size_t>(blanks, 1) - 1 < width;
}

// The columns behind the task, by their words: true when `text` is the rest of a header.
bool MatchWords(std::string_view text, PerfHeader* header) {
  std::string_view whole = text;
  auto before = [&](std::string_view word) {
    return whole.substr(0, static_cast<size_t>(word.data() - whole.data()));
  };
  std::string_view word = TakeWord(&text);
  header->cpu = ParsePerfCpu(word);
  if (header->cpu) word = TakeWord(&text);
  const size_t misc = IsMisc(word) ? word.size() : kMiscWidth - 1;
  if (IsTraceFlags(word) || IsMisc(word)) word = TakeWord(&text);
  header->time_ns = ParsePerfTime(word);
  if (header->time_ns) {
    header->narrow = IsNarrow(before(word), word, kTimeWidth + kMiscWidth - misc);
    word = TakeWord(&text);
  }
  int64_t period = 0;
  if (IsDigits(word) && ParseWhole(word, &period)) {
    header->period = period;
    header->narrow = header->narrow || IsNarrow(before(word), word, kPeriodWidth);
    word = TakeWord(&text);
  }
  if (word.empty()) return header->time_ns && !header->period;  // no event is printed
  if (!IsPerfEventWord(word)) return false;
  header->event = word.substr(0, word.size() - (IsPerfSideband(word) ? 0 : 1));
  header->rest = text;
  return true;
}

bool HoldsTime(std::string_view text) {
  while (!text.empty()) {
    if (ParsePerfTime(TakeWord(&text))) return true;
  }
  return false;
}

// The part of `line` in front of `rest` as a column's left side, with the blanks between.
std::optional<PerfHeader> MatchLoose(std::string_view line, const PerfLayout& layout) {
  line = TrimRight(TrimLeft(line));
  std::string_view rest = line;
  if (layout.comm) (void)TakeWord(&rest);
  const bool task = layout.task != PerfTask::kNone;
  while (!rest.empty()) {
    PerfHeader header;
    std::string_view name = line.substr(0, line.size() - rest.size());
    if (task) {
      std::string_view word = TakeWord(&rest);
      // With the blanks that pad the column behind the task.
      std::string_view behind = line.substr(static_cast<size_t>(word.end() - line.begin()));
      if (ParseTask(word, &header) && MatchWords(behind, &header) && !HoldsTime(name)) {
        header.comm = TrimRight(name);
        return header;
      }
      if (!layout.comm) return std::nullopt;
      continue;
    }
    std::string_view padded = line.substr(TrimRight(name).size());
    if (MatchWords(padded, &header) && header.time_ns && !HoldsTime(name)) {
      header.comm = TrimRight(name);
      return header;
    }
    (void)TakeWord(&rest);
  }
  return std::nullopt;
}

}  // namespace

bool IsPerfSideband(std::string_view text) {
  return text.starts_with("PERF_RECORD_") &&
         std::min(text.find_first_of(" :("), text.size()) > kMaxPerfCommBytes;
}

std::optional<PerfHeader> MatchPerfHeader(std::string_view line, const PerfLayout& layout) {
  return layout.padded ? MatchPadded(line, layout) : MatchLoose(line, layout);
}

const std::vector<PerfLayout>& PaddedPerfLayouts() {
  static const std::vector<PerfLayout> layouts = [] {
    std::vector<PerfLayout> all;
    for (bool event : {true, false}) {
      for (bool time : {true, false}) {
        for (bool tod : {true, false}) {
          for (PerfTask task : {PerfTask::kPair7, PerfTask::kPair5, PerfTask::kOne7,
                                PerfTask::kOne5, PerfTask::kNone}) {
            for (bool misc : {true, false}) {
              for (bool comm : {false, true}) {
                all.push_back({.comm = comm,
                               .task = task,
                               .misc = misc,
                               .tod = tod,
                               .time = time,
                               .event = event});
              }
            }
          }
        }
      }
    }
    return all;
  }();
  return layouts;
}

const std::vector<PerfLayout>& BlankNamePerfLayouts() {
  static const std::vector<PerfLayout> layouts = [] {
    std::vector<PerfLayout> all = PaddedPerfLayouts();
    std::erase_if(all, [](const PerfLayout& layout) { return !layout.comm; });
    for (PerfLayout& layout : all) layout.blank_names = true;
    return all;
  }();
  return layouts;
}

const std::vector<PerfLayout>& LoosePerfLayouts() {
  static const std::vector<PerfLayout> layouts = {
      {.padded = false},
      {.padded = false, .comm = false},
      {.padded = false, .task = PerfTask::kNone},
  };
  return layouts;
}

}  // namespace firetower::profile
