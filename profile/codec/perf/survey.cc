// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/perf/survey.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "profile/codec/perf/line.h"
#include "profile/codec/perf/tasks.h"

namespace firetower::profile {
namespace {

// Two sample types an event; the reader of pprof takes as many types.
constexpr size_t kMaxEvents = 32;

Error Refuse(size_t number, std::string_view why, std::string_view line) {
  return LineError("perf script", number, why, line);
}

// True for a text that perf never prints behind the name of an event that is no tracepoint: the
// fields of a tracepoint, whose event was left out and whose first field looks like one.
bool HoldsFields(std::string_view rest) {
  while (!rest.empty()) {
    std::string_view word = TakeWord(&rest);
    if (word.starts_with('(')) return false;  // the module of an address
    if (word.find('=') != std::string_view::npos || word.ends_with(',')) return true;
  }
  return false;
}

// True for an event of which each sample is one and perf prints no period unless asked for it.
bool IsTracepoint(std::string_view name) { return name.find(':') != std::string_view::npos; }

// True when `column` behind the name cannot be its end: perf padded the name, or the name would be
// longer than any.
bool EndsBefore(std::string_view line, const PerfHeader& header, size_t column_bytes) {
  const bool is_padded = line.starts_with(' ') && !header.comm.starts_with(' ');
  return is_padded || header.comm.size() + 1 + column_bytes > kMaxPerfCommBytes;
}

// True when the thread's number cannot be the end of a name: perf prints it in 7 places, or 5.
bool IsTaskSure(std::string_view line, const PerfHeader& header, PerfTask task) {
  const int64_t first_that_fills = task == PerfTask::kOne7 ? 1'000'000 : 10'000;
  return *header.tid < first_that_fills ||
         EndsBefore(line, header, std::to_string(*header.tid).size());
}

// True when `[003]` behind the name cannot be its end.
bool IsCpuSure(std::string_view line, const PerfHeader& header) {
  const size_t digits = std::max<size_t>(3, std::to_string(*header.cpu).size());
  return EndsBefore(line, header, digits + 2);
}

// A pass with the layout known.
class Surveyor {
 public:
  explicit Surveyor(const PerfLayout& layout) { survey_.layout = layout; }

  Result<PerfSurvey> Read(std::string_view text) {
    PerfLineSorter sorter(survey_.layout);
    LineReader lines(text);
    std::optional<size_t> last;
    for (std::string_view line; lines.Next(&line);) {
      const PerfLineKind kind = sorter.Next(line);
      // A line that the text ends in may be cut.
      if (kind == PerfLineKind::kFrame && line.end() != text.end()) AddFrame(line);
      if (kind == PerfLineKind::kFrame && last) survey_.events[*last].has_stacks = true;
      if (kind == PerfLineKind::kBlank || kind == PerfLineKind::kSideband) last.reset();
      if (kind != PerfLineKind::kHeader) continue;
      ASSIGN_OR_RETURN(size_t event, AddEvent(sorter.header(), line, lines.number()));
      last = event;
      RETURN_IF_ERROR(CheckColumns(sorter.header(), line, lines.number()));
      AddValues(sorter.header(), line, &survey_.events[event]);
    }
    RETURN_IF_ERROR(CheckAll());
    survey_.has_modules = !survey_.layout.padded || modules_ > 0 || bare_ == 0;
    survey_.has_offsets = offsets_ > 0 || symbols_ == 0;
    survey_.may_end_names = survey_.layout.comm && survey_.layout.task == PerfTask::kOne5 &&
                            headers_ > 0 && !is_task_sure_ && !tasks_.AnyChangedName();
    return std::move(survey_);
  }

 private:
  void AddFrame(std::string_view line) {
    survey_.has_frames = true;
    if (modules_ > 0 && offsets_ > 0) return;  // nothing more can be learnt
    const std::optional<bool> ends_in_module = EndsInPerfModule(line);
    if (ends_in_module) ++(*ends_in_module ? modules_ : bare_);
    const std::optional<PerfFrame> frame = ParsePerfFrame(line);
    if (frame && frame->symbol.empty()) return;
    ++symbols_;
    offsets_ += line.find("+0x") != std::string_view::npos;
  }

  Result<size_t> AddEvent(const PerfHeader& header, std::string_view line, size_t number) {
    const bool has_period = header.period.has_value();
    const bool has_cpu = header.cpu.has_value();
    if (PerfEvent* event = survey_.Find(header.event)) {
      // In text that somebody typed, samples of a tracepoint, which are one each, may say so or
      // not.
      const bool may_differ = !survey_.layout.padded && IsTracepoint(survey_.names[event->type]);
      if (!may_differ && event->has_period != has_period) {
        return Refuse(number,
                      survey_.layout.event
                          ? "samples of one event with and without a period; leave the field out"
                          : "periods of some events only, which have no names; use -F +event",
                      line);
      }
      if (survey_.layout.task == PerfTask::kNone && event->has_cpu != has_cpu) {
        return Refuse(number, "a name that looks like a CPU; use -F +tid", line);
      }
      return static_cast<size_t>(event - survey_.events.data());
    }
    std::string name = PerfEventName(header.event);
    auto known = std::ranges::find(survey_.names, name);
    const auto type = static_cast<size_t>(known - survey_.names.begin());
    if (known == survey_.names.end()) {
      if (survey_.names.size() >= kMaxEvents) {
        return Error(ErrorCode::kExhausted,
                     fmt::format("perf script line {}: more than {} events", number, kMaxEvents));
      }
      survey_.names.push_back(std::move(name));
    }
    // One name may be printed with many modifiers; that many forms are not a real file's.
    if (survey_.events.size() >= 8 * kMaxEvents) {
      return Error(ErrorCode::kExhausted, fmt::format("perf script line {}: more than {} forms of "
                                                      "events",
                                                      number, 8 * kMaxEvents));
    }
    survey_.events.push_back(
        {.printed = header.event, .type = type, .has_period = has_period, .has_cpu = has_cpu});
    return survey_.events.size() - 1;
  }

  Status CheckColumns(const PerfHeader& header, std::string_view line, size_t number) {
    const PerfLayout& layout = survey_.layout;
    ++headers_;
    if (first_line_.empty()) {
      first_line_ = line;
      first_number_ = number;
    }
    if (!layout.padded) return CheckRest(header, line, number);
    if (header.ambiguous) {
      return Refuse(number, "the name of the thread holds what looks like columns; use -F +time",
                    line);
    }
    named_ = named_ || !IsDigits(header.comm);
    const bool is_one = layout.task == PerfTask::kOne7 || layout.task == PerfTask::kOne5;
    is_task_sure_ = is_task_sure_ || !is_one || IsTaskSure(line, header, layout.task);
    // The width of the time's column says which blanks are the name's.
    const bool may_hold_blanks = layout.blank_names && layout.time;
    if (layout.comm && layout.task == PerfTask::kNone && !may_hold_blanks &&
        header.comm.find("  ") != std::string_view::npos) {
      return Refuse(number,
                    fmt::format("the first columns are neither a name nor a name and a "
                                "number; {}",
                                kPerfOtherFields),
                    line);
    }
    const PerfRestFrame frame = FindPerfFrame(header.rest, true);
    if (!frame.frame.empty()) AddFrame(frame.frame);
    // A symbol may hold anything.
    std::string_view before = frame.frame.empty() ? header.rest : frame.before;
    const bool tracepoint = header.event.find(':') != std::string_view::npos;
    if (layout.event && !tracepoint && HoldsFields(before)) {
      return Refuse(number,
                    "what stands for an event looks like a tracepoint's field; use "
                    "-F +event",
                    line);
    }
    if (!layout.event && TrimRight(before).ends_with(':')) {
      return Refuse(number,
                    "the name of an event with a blank cannot be read; record it with "
                    "another name",
                    line);
    }
    return CheckRest(header, line, number);
  }

  Status CheckRest(const PerfHeader& header, std::string_view line, size_t number) const {
    if (IsPerfRestKnown(header, survey_.layout.padded)) return OkStatus();
    return Refuse(
        number,
        "behind the columns stands text that is neither a frame nor a known field; use -F "
        "+event, or run perf script without -F, or with -F "
        "comm,pid,tid,time,period,event,ip,sym,dso",
        line);
  }

  void AddValues(const PerfHeader& header, std::string_view line, PerfEvent* event) {
    // perf prints the same columns for all samples of an event: one that is sure is enough.
    event->is_cpu_sure = event->is_cpu_sure || (header.cpu && IsCpuSure(line, header));
    if (header.time_ns) {
      if (survey_.first_ns > survey_.last_ns) starts_at_zero_ = *header.time_ns == 0;
      backwards_ += headers_ > 1 && *header.time_ns < last_time_ns_;
      last_time_ns_ = *header.time_ns;
      survey_.first_ns = std::min(survey_.first_ns, *header.time_ns);
      survey_.last_ns = std::max(survey_.last_ns, *header.time_ns);
    }
    const int64_t period = header.period.value_or(0);
    if (!survey_.period) survey_.period = period;
    survey_.one_period = survey_.one_period && *survey_.period == period;
    if (survey_.layout.padded) tasks_.Add(header, survey_.names[event->type] == "cpu-clock");
  }

  Status CheckAll() const {
    if (headers_ == 0) return OkStatus();
    const PerfLayout& layout = survey_.layout;
    const bool one = layout.task == PerfTask::kOne5 || layout.task == PerfTask::kOne7;
    const bool periods = std::ranges::any_of(survey_.events, &PerfEvent::has_period);
    const bool mixed = std::ranges::any_of(survey_.events, [&](const PerfEvent& event) {
      return !event.has_period && !IsTracepoint(survey_.names[event.type]) &&
             survey_.HasValue(event.type);
    });
    if (mixed) {
      return Refuse(first_number_,
                    "samples of one event with and without a period; leave the field out",
                    first_line_);
    }
    if (layout.padded && one && !layout.comm && !(layout.time && layout.event && periods)) {
      return Refuse(first_number_,
                    "a number that -F tid prints, and -F pid too; use -F comm,pid,tid",
                    first_line_);
    }
    if (survey_.layout.padded && survey_.layout.comm && survey_.layout.task == PerfTask::kNone &&
        !named_) {
      return Refuse(
          first_number_,
          fmt::format("all names are numbers, which could be threads; {}", kPerfOtherFields),
          first_line_);
    }
    if (layout.padded && layout.comm && layout.task == PerfTask::kOne7 && !is_task_sure_) {
      return Refuse(first_number_,
                    "the number behind the name is a thread's, or the end of the name: all have 7 "
                    "digits; use -F +pid,+tid, or -F comm,pid,tid,time,period,event,ip,sym,dso",
                    first_line_);
    }
    const bool unsure_cpu = std::ranges::any_of(
        survey_.events, [](const PerfEvent& event) { return event.has_cpu && !event.is_cpu_sure; });
    if (layout.padded && layout.comm && layout.task == PerfTask::kNone &&
        headers_ < kPerfFewSamples && unsure_cpu) {
      return Refuse(first_number_, "a CPU, or the end of a name that looks like one; use -F +tid",
                    first_line_);
    }
    if ((starts_at_zero_ && backwards_ > 0) || (headers_ >= 8 && backwards_ > headers_ / 4)) {
      return Refuse(first_number_,
                    "times go back, as those of --deltatime do; run perf script "
                    "without it",
                    first_line_);
    }
    if (tasks_.AreProcesses()) {
      return Refuse(first_number_,
                    "the numbers behind the names are not of threads but of "
                    "processes, of -F pid; use -F +tid",
                    first_line_);
    }
    return OkStatus();
  }

  PerfSurvey survey_;
  PerfTaskWatch tasks_;
  size_t headers_ = 0;
  size_t backwards_ = 0;
  int64_t last_time_ns_ = 0;
  bool starts_at_zero_ = false;
  bool named_ = false;
  bool is_task_sure_ = false;
  // Frames that end in a module, those that do not, those with a symbol, and of these with an
  // offset.
  size_t modules_ = 0;
  size_t bare_ = 0;
  size_t symbols_ = 0;
  size_t offsets_ = 0;
  std::string_view first_line_ = {};
  size_t first_number_ = 0;
};

}  // namespace

PerfEvent* PerfSurvey::Find(std::string_view printed) {
  auto found = std::ranges::find(events, printed, &PerfEvent::printed);
  return found == events.end() ? nullptr : &*found;
}

const PerfEvent* PerfSurvey::Find(std::string_view printed) const {
  auto found = std::ranges::find(events, printed, &PerfEvent::printed);
  return found == events.end() ? nullptr : &*found;
}

bool PerfSurvey::HasValue(size_t type) const {
  return IsTracepoint(names[type]) || std::ranges::any_of(events, [&](const PerfEvent& event) {
           return event.type == type && event.has_period;
         });
}

bool PerfSurvey::lacks_default_field() const {
  if (!layout.time || !layout.event || !has_offsets || (has_frames && !has_modules)) return true;
  return std::ranges::any_of(events, [&](const PerfEvent& event) {
    return !IsTracepoint(names[event.type]) && (!event.has_period || !has_frames);
  });
}

void AddNotesOfTasks(const PerfSurvey& survey, std::vector<std::string>* notes) {
  const PerfLayout& layout = survey.layout;
  const bool is_one = layout.task == PerfTask::kOne5 || layout.task == PerfTask::kOne7;
  if (notes == nullptr || !layout.padded || !layout.comm || !is_one || survey.events.empty())
    return;
  if (survey.may_end_names) {
    notes->push_back(
        "the numbers of 5 digits or more behind the names are read as threads (tid), and would be "
        "the ends of names if -F left tid out; if it did, run perf script again with -F +pid,+tid");
  }
  if (survey.lacks_default_field()) {
    notes->push_back(
        "the number behind each name is read as its thread (tid), and would be its process if -F "
        "named pid without tid; if it did, run perf script again with both in -F, as in -F "
        "comm,pid,tid,time,period,event,ip,sym,dso");
  }
}

bool IsPerfClock(std::string_view name) { return name == "cpu-clock" || name == "task-clock"; }

Result<PerfSurvey> SurveyPerfScript(std::string_view text) {
  ASSIGN_OR_RETURN(PerfLayout layout, FindPerfLayout(text));
  return Surveyor(layout).Read(text);
}

}  // namespace firetower::profile
