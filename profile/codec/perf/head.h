// SPDX-License-Identifier: Apache-2.0
// The first line of a sample of `perf script`: columns in one order, each as -F has it or not
// (linux/tools/perf/builtin-script.c, perf-script(1)). Nothing in a line says which columns it has,
// and the name of a thread may look like any of them: the lines of a file say it together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace firetower::profile {

// Numbers are padded to a width, 5 until perf 6.1 and 7 since.
enum class PerfTask : uint8_t { kNone, kOne5, kOne7, kPair5, kPair7 };

// The columns that all lines of a file share. CPU and period may differ from event to event.
struct PerfLayout {
  // Padded as perf prints them. Text that somebody typed or squeezed is read by its words.
  bool padded = true;
  bool comm = true;
  PerfTask task = PerfTask::kOne5;
  bool misc = false;  // K, U, …: whose code ran
  bool tod = false;   // wall clock
  bool time = true;
  bool event = true;
  // Names may begin or end with blanks: the widths of the columns tell where a name ends. For files
  // that have no other layout.
  bool blank_names = false;

  bool operator==(const PerfLayout&) const = default;
};

// Columns of one line. Texts lie in the line.
struct PerfHeader {
  std::string_view comm = {};  // may hold blanks
  std::optional<int64_t> pid = {};
  std::optional<int64_t> tid = {};
  std::optional<int64_t> cpu = {};
  std::optional<int64_t> time_ns = {};  // of perf's clock
  std::optional<int64_t> period = {};
  std::string_view event = {};
  std::string_view rest = {};  // what stands behind the event: a tracepoint's fields, a frame, …
  bool narrow = false;         // a column is narrower than perf prints it
  bool ambiguous = false;      // with a longer name the line has these columns too
  bool has_misc = false;       // letters stand in the column of misc, not blanks alone
};

// Longest name of a thread: TASK_COMM_LEN of Linux without its end.
inline constexpr size_t kMaxPerfCommBytes = 15;

// True for a text that begins with the kind of a line that is no sample, PERF_RECORD_COMM of
// --show-task-events and its like. The name of a thread has no room for any of them.
bool IsPerfSideband(std::string_view text);

// Nothing when the line does not have these columns, or none of CPU, time and event.
std::optional<PerfHeader> MatchPerfHeader(std::string_view line, const PerfLayout& layout);

// Every layout that is padded, the fullest first; those of them that have a name, with blank_names;
// and the three of text that is not padded: a name and a task, a task, a name.
const std::vector<PerfLayout>& PaddedPerfLayouts();
const std::vector<PerfLayout>& BlankNamePerfLayouts();
const std::vector<PerfLayout>& LoosePerfLayouts();

}  // namespace firetower::profile
