// SPDX-License-Identifier: Apache-2.0
// Lines of `perf script` below the first one of a sample, and names of events
// (linux/tools/perf/util/evsel_fprintf.c, perf-script(1), perf-list(1)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firetower::profile {

// `ip symbol+offset (module)`, the module `(inlined)` for a call that the next frame holds.
struct PerfFrame {
  uint64_t ip = 0;
  std::string_view symbol = {};  // empty: not known
  std::string_view module = {};  // empty: not known
  bool inlined = false;
};
// Without modules a bracket at its end is the name's, as in `foo (anonymous)`.
std::optional<PerfFrame> ParsePerfFrame(std::string_view line, bool has_modules = true);

// Tells whether a frame's line ends as perf ends those with a module, or as those without; nothing
// where it could be either.
std::optional<bool> EndsInPerfModule(std::string_view line);

// The frame that stands on the first line of a sample, behind what else is printed there.
struct PerfRestFrame {
  std::string_view before = {};  // what stands between the event and the frame
  std::string_view frame = {};   // empty: there is none
  bool several = false;          // more than one place looks like it
};
PerfRestFrame FindPerfFrame(std::string_view rest, bool padded);

// True for a line that begins with a tab and a number, as all frames below a first line do; sets
// `*narrow` when the number is narrower than perf prints it.
bool IsPerfFrameLine(std::string_view line, bool* narrow);

inline constexpr std::string_view kPerfPhysAddr = "phys_addr";

// Names the fields whose values `text` has behind the frames, as -F knows them; empty: none known.
std::string_view PerfTrailingFields(std::string_view text);

// True for what may stand between the columns of a sample that is no tracepoint's and its frame:
// nothing, or text that begins as the values of a field do.
bool IsPerfFieldText(std::string_view text, bool padded);

// `file:line`, which stands below its frame with -F +srcline; `[module][address]` and `??:?` where
// it is not known. `(inlined)` of the frame stands behind it.
struct PerfSourceLine {
  std::string_view file = {};  // empty: not known
  int64_t line = 0;
  bool inlined = false;
};
std::optional<PerfSourceLine> ParsePerfSourceLine(std::string_view line);

// An event's name without its modifiers and the terms that say how it was recorded: cycles of
// cycles:ppp, cpu-clock of cpu-clock/freq=999/, cpu_core/cycles/ of cpu_core/cycles/P,
// cpu/event=0x3c/ of cpu/event=0x3c,freq=99/u. A name with a colon that perf-list(1) does not say,
// a tracepoint's, stays as it is: my:k and my:u are two.
std::string PerfEventName(std::string_view event);

}  // namespace firetower::profile
