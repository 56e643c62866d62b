// SPDX-License-Identifier: Apache-2.0
// Reads `perf script` in two passes: a profile's sample types must be known before its first
// sample, and events come as they come.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/codec/perf/line.h"
#include "profile/codec/perf/survey.h"
#include "profile/codec/text.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kAllowed =
    "neither the first line of a sample ('comm pid [cpu] time: period event:') nor a frame "
    "('address symbol (module)'); run perf script without -F, or with -F "
    "comm,pid,tid,time,period,event,ip,sym,dso";
constexpr std::string_view kLost =
    "a frame before the first line of a sample; run perf script without -F, or with -F "
    "comm,pid,tid,time,period,event,ip,sym,dso";
constexpr std::string_view kSeveralFrames =
    "two addresses, and which is the frame's is not said; use -F -trace or -F -addr";
constexpr std::string_view kBehindFrame =
    "more behind the frame than its module: fields like phys_addr, insn, iregs, brstack and "
    "data_page_size cannot be read; leave them out, or use -F +dso";

// True when a symbol has what no name has: the value of another field behind it.
bool HasMoreBehind(const PerfFrame& frame) {
  if (!frame.module.empty() || frame.inlined) return false;
  constexpr std::string_view kPages[] = {" N/A", " 4K", " 64K", " 2M", " 1G"};
  return frame.symbol.find("  ") != std::string_view::npos ||
         frame.symbol.find(" insn: ") != std::string_view::npos ||
         frame.symbol.find(" ilen: ") != std::string_view::npos ||
         frame.symbol.find("+0x") != std::string_view::npos ||
         frame.symbol.find(" 0x") != std::string_view::npos ||
         std::ranges::any_of(kPages, [&](auto page) { return frame.symbol.ends_with(page); });
}

// Sample types of one event.
struct EventColumns {
  size_t samples = 0;
  std::optional<size_t> value = {};  // nothing: there are no periods
};

std::vector<EventColumns> ColumnsOf(const PerfSurvey& survey) {
  std::vector<EventColumns> columns;
  size_t next = 0;
  for (size_t type = 0; type < survey.names.size(); ++type) {
    EventColumns& event = columns.emplace_back();
    event.samples = next++;
    if (survey.HasValue(type)) event.value = next++;
  }
  return columns;
}

Meta MetaOf(const PerfSurvey& survey) {
  Meta meta;
  const bool one = survey.names.size() <= 1;
  for (size_t type = 0; type < survey.names.size(); ++type) {
    const std::string& event = survey.names[type];
    std::string name = event.empty() ? "events" : event;
    if (one && IsPerfClock(event)) name = "cpu";  // as everybody calls it
    meta.sample_types.push_back({one ? "samples" : name + "_samples", "count"});
    if (!survey.HasValue(type)) continue;
    meta.sample_types.push_back({name, IsPerfClock(event) ? "nanoseconds" : "count"});
  }
  if (meta.sample_types.empty()) meta.sample_types = {{"samples", "count"}};
  if (one && meta.sample_types.size() == 2) {
    meta.period_type = meta.sample_types.back();
    if (survey.one_period) meta.period = survey.period.value_or(0);
  }
  if (survey.first_ns < survey.last_ns) {
    meta.duration_nanos = survey.last_ns - survey.first_ns;
  }
  return meta;
}

class PerfScriptDecoder {
 public:
  PerfScriptDecoder(const PerfSurvey& survey, const PerfScriptOptions& options,
                    const ImportLimits& limits)
      : survey_(survey),
        options_(options),
        limits_(limits),
        columns_(ColumnsOf(survey)),
        builder_(MetaOf(survey),
                 {.max_samples = limits.max_entries, .max_bytes = limits.max_profile_bytes}),
        values_(builder_.meta().sample_types.size()) {}

  Result<Profile> Decode(std::string_view text) {
    PerfLineSorter sorter(survey_.layout);
    LineReader lines(text);
    for (std::string_view line; lines.Next(&line);) {
      RETURN_IF_ERROR(AddLine(sorter, sorter.Next(line), line, lines.number()));
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

  Status AddLine(const PerfLineSorter& sorter, PerfLineKind kind, std::string_view line,
                 size_t number) {
    switch (kind) {
      case PerfLineKind::kComment:
        return OkStatus();
      case PerfLineKind::kBlank:
        return EndSample();
      case PerfLineKind::kSideband:
        RETURN_IF_ERROR(EndSample());
        sideband_ = true;
        return OkStatus();
      case PerfLineKind::kHeader:
        RETURN_IF_ERROR(EndSample());
        return BeginSample(sorter.header(), line, number);
      case PerfLineKind::kFrame:
        if (sideband_) return OkStatus();
        return AddFrameLine(line, line, number);
      case PerfLineKind::kSource:
        if (sideband_) return OkStatus();
        return AddSource(line, number);
      case PerfLineKind::kOther:
        break;
    }
    if (sideband_) return OkStatus();
    const bool lost = !sample_ && IsBlank(line.front());
    return LineError("perf script", number, lost ? kLost : kAllowed, line);
  }

  Status BeginSample(const PerfHeader& header, std::string_view line, size_t number) {
    sample_ = header;
    event_ = survey_.Find(header.event);
    // Samples without a call graph have their frame on the same line.
    if (event_->has_stacks) return OkStatus();
    const PerfRestFrame found = FindPerfFrame(header.rest, survey_.layout.padded);
    if (found.several) return LineError("perf script", number, kSeveralFrames, line);
    if (found.frame.empty()) return OkStatus();
    return AddFrameLine(found.frame, line, number);
  }

  // `line` is where `text` stands.
  Status AddFrameLine(std::string_view text, std::string_view line, size_t number) {
    if (!sample_) return LineError("perf script", number, kLost, line);
    std::optional<PerfFrame> frame = ParsePerfFrame(text, survey_.has_modules);
    if (!frame) {
      return LineError("perf script", number,
                       event_->has_stacks ? kAllowed : std::string_view(kBehindFrame), line);
    }
    if (survey_.layout.padded && HasMoreBehind(*frame)) {
      return LineError("perf script", number, kBehindFrame, line);
    }
    AddFrame(*frame);
    return OkStatus();
  }

  Status AddSource(std::string_view line, size_t number) {
    std::optional<PerfSourceLine> source = ParsePerfSourceLine(line);
    if (!source || lines_.empty()) return LineError("perf script", number, kAllowed, line);
    lines_.back().source = *source;
    frame_.inlined = frame_.inlined || source->inlined;
    return OkStatus();
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
    const EventColumns& columns = columns_[event_->type];
    std::ranges::fill(values_, 0);
    values_[columns.samples] = 1;
    if (columns.value) values_[*columns.value] = header.period.value_or(1);
    labels_.clear();
    if (survey_.layout.comm) labels_.push_back(builder_.StringLabel("comm", header.comm));
    if (header.pid) labels_.push_back(builder_.NumberLabel("pid", *header.pid, ""));
    if (header.tid) labels_.push_back(builder_.NumberLabel("tid", *header.tid, ""));
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

  const PerfSurvey& survey_;
  PerfScriptOptions options_;
  ImportLimits limits_;
  std::vector<EventColumns> columns_;  // by PerfEvent::type
  ProfileBuilder builder_;
  std::vector<int64_t> values_;
  std::vector<Label> labels_;
  // The sample that is being read, and what of its stack is complete, leaf first.
  std::optional<PerfHeader> sample_;
  const PerfEvent* event_ = nullptr;
  bool sideband_ = false;
  std::vector<uint32_t> stack_;
  // The frame that is being read: inlined calls before it, its own line last.
  PerfFrame frame_;
  std::vector<FrameLine> lines_;
};

}  // namespace

Result<Profile> DecodePerfScript(std::string_view text, const PerfScriptOptions& options,
                                 const ImportLimits& limits, std::vector<std::string>* notes) {
  if (text.size() > limits.max_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("perf script: {} bytes, more than the limit of {}", text.size(),
                             limits.max_bytes));
  }
  ASSIGN_OR_RETURN(PerfSurvey survey, SurveyPerfScript(text));
  AddNotesOfTasks(survey, notes);
  return PerfScriptDecoder(survey, options, limits).Decode(text);
}

}  // namespace firetower::profile
