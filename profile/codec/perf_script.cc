// SPDX-License-Identifier: Apache-2.0
// Reads `perf script` in two passes: a profile's sample types must be known before its first
// sample, and events come as they come.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/codec/perf_line.h"
#include "profile/codec/text.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

// Two sample types an event; the reader of pprof takes as many types.
constexpr size_t kMaxEvents = 32;
constexpr std::string_view kAllowed =
    "neither the first line of a sample ('comm pid [cpu] time: period event:') nor a frame "
    "('address symbol (module)')";

// perf pads the name of a thread with blanks where samples have no stacks, so that such a line
// looks like a frame; but a frame has no time.
std::optional<PerfHeader> HeaderOf(std::string_view line) {
  if (line.empty() || line.front() == '#') return std::nullopt;
  if (!IsBlank(line.front())) return ParsePerfHeader(line);
  if (line.find(": ") == std::string_view::npos && !line.ends_with(':')) return std::nullopt;
  std::optional<PerfHeader> header = ParsePerfHeader(line);
  if (header && !header->time_ns) return std::nullopt;
  return header;
}

bool IsSideband(const PerfHeader& header) { return header.event.starts_with(kSidebandPrefix); }

// What is said of all samples.
struct Survey {
  std::vector<std::string_view> events = {};
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  std::optional<int64_t> period = {};  // of the samples so far, as long as it is one
  bool one_period = true;
};

Result<Survey> SurveySamples(std::string_view text) {
  Survey survey;
  LineReader lines(text);
  for (std::string_view line; lines.Next(&line);) {
    std::optional<PerfHeader> header = HeaderOf(line);
    if (!header || IsSideband(*header)) continue;
    std::string_view event = PerfEventName(header->event);
    if (std::ranges::find(survey.events, event) == survey.events.end()) {
      if (survey.events.size() >= kMaxEvents) {
        return Error(ErrorCode::kExhausted, fmt::format("perf script line {}: more than {} events",
                                                        lines.number(), kMaxEvents));
      }
      survey.events.push_back(event);
    }
    if (header->time_ns) {
      survey.first_ns = std::min(survey.first_ns, *header->time_ns);
      survey.last_ns = std::max(survey.last_ns, *header->time_ns);
    }
    const int64_t period = header->period.value_or(0);
    if (!survey.period) survey.period = period;
    survey.one_period = survey.one_period && *survey.period == period;
  }
  return survey;
}

bool IsClock(std::string_view event) { return event == "cpu-clock" || event == "task-clock"; }

Meta MetaOf(const Survey& survey) {
  Meta meta;
  const bool one = survey.events.size() <= 1;
  for (std::string_view event : survey.events) {
    std::string name(event.empty() ? "events" : event);
    if (one && IsClock(event)) name = "cpu";  // as everybody calls it
    meta.sample_types.push_back({one ? "samples" : name + "_samples", "count"});
    meta.sample_types.push_back({name, IsClock(event) ? "nanoseconds" : "count"});
  }
  if (meta.sample_types.empty()) meta.sample_types = {{"samples", "count"}};
  if (one) meta.period_type = meta.sample_types.back();
  if (one && survey.one_period) meta.period = survey.period.value_or(0);
  if (survey.first_ns < survey.last_ns) {
    meta.duration_nanos = survey.last_ns - survey.first_ns;
  }
  return meta;
}

class PerfScriptDecoder {
 public:
  PerfScriptDecoder(const Survey& survey, const PerfScriptOptions& options,
                    const ImportLimits& limits)
      : events_(survey.events),
        options_(options),
        limits_(limits),
        builder_(MetaOf(survey),
                 {.max_samples = limits.max_entries, .max_bytes = limits.max_profile_bytes}),
        values_(builder_.meta().sample_types.size()) {}

  Result<Profile> Decode(std::string_view text) {
    LineReader lines(text);
    for (std::string_view line; lines.Next(&line);) {
      if (line.starts_with('#')) continue;
      if (TrimLeft(line).empty()) {
        RETURN_IF_ERROR(EndSample());
      } else if (std::optional<PerfHeader> header = HeaderOf(line)) {
        RETURN_IF_ERROR(EndSample());
        BeginSample(*header);
      } else if (!AddToStack(line)) {
        const bool lost = !sample_ && IsBlank(line.front());
        return LineError("perf script", lines.number(),
                         lost ? "a frame before the first line of a sample" : kAllowed, line);
      }
    }
    RETURN_IF_ERROR(EndSample());
    if (builder_.saturated_values() > 0) {
      return Error(ErrorCode::kExhausted, "perf script: the periods of a stack pass 2^63");
    }
    return std::move(builder_).Build();
  }

 private:
  struct FrameLine {
    std::string_view symbol;
    PerfSourceLine source;
  };

  void BeginSample(const PerfHeader& header) {
    sideband_ = IsSideband(header);
    if (sideband_) return;
    sample_ = header;
    // Samples without a call graph have their frame on the same line.
    if (std::optional<PerfFrame> frame = ParsePerfFrame(header.rest)) {
      if (header.rest.ends_with(')')) AddFrame(*frame);
    }
  }

  // False when the line can be neither a frame nor the source line of one.
  bool AddToStack(std::string_view line) {
    if (sideband_) return true;
    if (!sample_ || !IsBlank(line.front())) return false;
    if (std::optional<PerfFrame> frame = ParsePerfFrame(line)) {
      AddFrame(*frame);
      return true;
    }
    std::optional<PerfSourceLine> source = ParsePerfSourceLine(line);
    if (!source || lines_.empty()) return false;
    lines_.back().source = *source;
    return true;
  }

  // Inlined calls come first, then the function that holds them: one location.
  void AddFrame(const PerfFrame& frame) {
    if (!lines_.empty() && (!frame_.inlined || frame_.ip != frame.ip)) EndFrame();
    frame_ = frame;
    lines_.push_back({.symbol = frame.symbol, .source = {}});
  }

  void EndFrame() {
    std::vector<Line> lines;
    for (const FrameLine& line : lines_) {
      if (line.symbol.empty() && lines_.size() == 1) break;  // an address without a name
      std::string_view name = line.symbol.empty() ? std::string_view("[unknown]") : line.symbol;
      lines.push_back({.function = builder_.AddFunction(name, name, line.source.file),
                       .line = line.source.line});
    }
    lines_.clear();
    uint32_t mapping = kNoMapping;
    if (!frame_.module.empty()) {
      mapping = builder_.AddMapping(
          {.filename = builder_.AddString(frame_.module), .flags = Mapping::kHasFunctions});
    }
    stack_.push_back(builder_.AddLocation(mapping, frame_.ip, lines));
  }

  Status EndSample() {
    sideband_ = false;
    if (!sample_) return OkStatus();
    if (!lines_.empty()) EndFrame();
    const PerfHeader header = *std::exchange(sample_, std::nullopt);
    auto event = std::ranges::find(events_, PerfEventName(header.event));
    const auto column = static_cast<size_t>(event - events_.begin()) * 2;
    std::ranges::fill(values_, 0);
    values_[column] = 1;
    values_[column + 1] = header.period.value_or(1);
    labels_.clear();
    labels_.push_back(builder_.StringLabel("comm", header.comm));
    if (header.pid) labels_.push_back(builder_.NumberLabel("pid", *header.pid, ""));
    labels_.push_back(builder_.NumberLabel("tid", header.tid, ""));
    if (header.cpu) labels_.push_back(builder_.NumberLabel("cpu", *header.cpu, ""));
    if (header.time_ns && options_.times) {
      labels_.push_back(builder_.NumberLabel("end_timestamp_ns", *header.time_ns, "nanoseconds"));
    }
    const bool added = builder_.AddSample(stack_, values_, labels_);
    stack_.clear();
    if (added) return OkStatus();
    return Error(ErrorCode::kExhausted,
                 fmt::format("perf script: more than {} samples or {} bytes", limits_.max_entries,
                             limits_.max_profile_bytes));
  }

  const std::vector<std::string_view>& events_;
  PerfScriptOptions options_;
  ImportLimits limits_;
  ProfileBuilder builder_;
  std::vector<int64_t> values_;
  std::vector<Label> labels_;
  // The sample that is being read, and what of its stack is complete, leaf first.
  std::optional<PerfHeader> sample_;
  bool sideband_ = false;
  std::vector<uint32_t> stack_;
  // The frame that is being read: inlined calls before it, its own line last.
  PerfFrame frame_;
  std::vector<FrameLine> lines_;
};

}  // namespace

Result<Profile> DecodePerfScript(std::string_view text, const PerfScriptOptions& options,
                                 const ImportLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("perf script: {} bytes, more than the limit of {}", text.size(),
                             limits.max_bytes));
  }
  ASSIGN_OR_RETURN(Survey survey, SurveySamples(text));
  return PerfScriptDecoder(survey, options, limits).Decode(text);
}

}  // namespace firetower::profile
