// SPDX-License-Identifier: Apache-2.0
// The lines of `perf script` (linux/tools/perf/builtin-script.c, perf-script(1)).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace firetower::profile {

// The first line of a sample: `comm pid/tid [cpu] time: period event: …`. Only the thread and one
// of time and event are always there. Texts lie in the line.
struct PerfHeader {
  std::string_view comm = {};  // may hold blanks
  std::optional<int64_t> pid = {};
  int64_t tid = 0;
  std::optional<int64_t> cpu = {};
  std::optional<int64_t> time_ns = {};  // of perf's clock
  std::optional<int64_t> period = {};
  std::string_view event = {};
  std::string_view rest = {};  // a tracepoint's fields; the frame, where samples have one only
};
// What the event of a line begins with that is no sample: --show-task-events and its like.
inline constexpr std::string_view kSidebandPrefix = "PERF_RECORD_";
std::optional<PerfHeader> ParsePerfHeader(std::string_view line);

// `ip symbol+offset (module)`, the module `(inlined)` for a call that the next frame holds.
struct PerfFrame {
  uint64_t ip = 0;
  std::string_view symbol = {};  // empty: not known
  std::string_view module = {};  // empty: not known
  bool inlined = false;
};
std::optional<PerfFrame> ParsePerfFrame(std::string_view line);

// `file:line`, which stands below its frame with -F +srcline.
struct PerfSourceLine {
  std::string_view file = {};
  int64_t line = 0;
};
std::optional<PerfSourceLine> ParsePerfSourceLine(std::string_view line);

// An event's name without its modifiers: cycles of cycles:ppp; sched:sched_switch as it is.
std::string_view PerfEventName(std::string_view event);

}  // namespace firetower::profile
