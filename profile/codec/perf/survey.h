// SPDX-License-Identifier: Apache-2.0
// Facts about all samples of a file, before the first one is read.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/codec/perf/layout.h"

namespace firetower::profile {

// The samples of one printed name.
struct PerfEvent {
  std::string_view printed = {};
  size_t type = 0;  // of PerfSurvey::names
  bool has_period = false;
  bool has_cpu = false;
  bool is_cpu_sure = false;  // that of some sample cannot be the end of a name
  bool has_stacks = false;   // frames stand on lines of their own
};

struct PerfSurvey {
  PerfLayout layout = {};
  std::vector<std::string> names = {};  // without modifiers, as they came
  std::vector<PerfEvent> events = {};
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  std::optional<int64_t> period = {};  // of the samples so far, as long as it is one
  bool one_period = true;
  bool has_frames = false;
  bool has_modules = true;  // those of frames are printed, as far as can be told
  bool has_offsets = true;  // so are those of symbols, as far as there are any
  // Numbers behind names are read as threads, and each could as well be the end of its name.
  bool may_end_names = false;

  // True when some field is missing that perf script prints unless -F says otherwise.
  bool lacks_default_field() const;

  PerfEvent* Find(std::string_view printed);
  const PerfEvent* Find(std::string_view printed) const;
  // True when samples of this name have a value besides their number: periods, or those of a
  // tracepoint, of which each sample is one.
  bool HasValue(size_t type) const;
};

bool IsPerfClock(std::string_view name);

// Adds texts about a column of numbers whose meaning the text does not say for sure.
void AddNotesOfTasks(const PerfSurvey& survey, std::vector<std::string>* notes);

// Reads all lines twice. Refuses a file in which a value could belong to two columns.
Result<PerfSurvey> SurveyPerfScript(std::string_view text);

}  // namespace firetower::profile
