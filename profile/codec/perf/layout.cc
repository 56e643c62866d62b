// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/perf/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "profile/codec/perf/columns.h"
#include "profile/codec/perf/line.h"

namespace firetower::profile {
namespace {

bool MentionsSideband(std::string_view line) {
  constexpr std::string_view kAny = " PERF_RECORD_";
  for (size_t at = line.find(kAny); at != std::string_view::npos; at = line.find(kAny, at + 1)) {
    if (IsPerfSideband(line.substr(at + 1))) return true;
  }
  return false;
}

// A line of -F +srcline is indented by two blanks.
bool IsIndentedSource(std::string_view line) {
  return line.size() > 2 && line.starts_with("  ") && line[2] != ' ' && ParsePerfSourceLine(line);
}

// A frame of text whose tabs became blanks. A number alone is another field's, and so is one with
// that field's text behind it, `0 N/A`.
bool IsBlankIndentedFrame(std::string_view line) {
  if (!IsBlank(line.front())) return false;
  std::optional<PerfFrame> frame = ParsePerfFrame(line);
  if (!frame) return false;
  if (!frame->module.empty()) return true;
  if (frame->symbol.empty()) return false;
  const std::string_view field = PerfTrailingFields(frame->symbol);
  return field.empty() || field == kPerfPhysAddr;  // a name may consist of hexadecimal digits
}

// `among_others` is of a line in a file whose samples have columns that are known, behind one of
// them or a frame: only there may it be the value of a trailing field that is a number, or a
// message of perf.
Error NoHeader(std::string_view line, size_t number, bool among_others) {
  std::string why =
      "neither the first line of a sample ('comm pid [cpu] time: period event:') nor a frame "
      "('address symbol (module)')";
  std::string_view fields = PerfTrailingFields(line);
  // perf pads that number, which is the only word of its line.
  constexpr size_t kWidth = 16;
  const bool is_padded = line.starts_with(' ') || line.size() >= kWidth;
  if (fields == kPerfPhysAddr && (!among_others || !is_padded)) fields = {};
  if (!fields.empty()) {
    why += fmt::format(": values of {} are not read; leave the field out", fields);
  } else if (among_others) {
    why += fmt::format(", with the same columns as the other lines; {}, or {}",
                       "leave out perf's own messages, which 2>&1 mixes in", kPerfOtherFields);
  } else {
    why += fmt::format(
        ", with the same columns as the lines before: columns are told apart by time, cpu and "
        "event; {}",
        kPerfOtherFields);
  }
  return LineError("perf script", number, why, line);
}

// Findings of a pass over the file with a set of layouts.
struct Pass {
  std::vector<PerfLayout> left = {};
  bool narrow = false;         // something is narrower than perf prints it
  bool rest_known = true;      // all that stands behind the columns is a frame or a known field
  std::string_view line = {};  // that has none of the columns; empty: all lines have them
  size_t number = 0;
  size_t samples = 0;
  bool has_frames = false;
  std::string_view first_line = {};  // of the first sample
  size_t first_number = 0;
};

// Drops the layouts that a line does not have, and those that leave a rest which another one reads.
bool Narrow(std::string_view line, size_t number, Pass* pass) {
  std::vector<PerfLayout> left;
  std::vector<PerfLayout> known;
  bool narrow = false;
  for (const PerfLayout& layout : pass->left) {
    std::optional<PerfHeader> header = MatchPerfHeader(line, layout);
    if (!header) continue;
    narrow = narrow || header->narrow;
    left.push_back(layout);
    if (IsPerfRestKnown(*header, layout.padded)) known.push_back(layout);
  }
  if (left.empty()) return false;
  pass->rest_known = pass->rest_known && !known.empty();
  pass->left = std::move(known.empty() ? left : known);
  pass->narrow = pass->narrow || narrow;
  if (pass->samples++ == 0) {
    pass->first_line = line;
    pass->first_number = number;
  }
  return true;
}

// True for a sample of a thread whose name begins as a comment of perf does, `#1 worker`.
bool IsSampleOf(std::string_view line, const PerfLayout& layout) {
  std::optional<PerfHeader> header = MatchPerfHeader(line, layout);
  return header && (header->tid || header->time_ns || header->cpu);
}

Pass TryLayouts(std::string_view text, const std::vector<PerfLayout>& layouts) {
  Pass pass{.left = layouts};
  const bool padded = layouts.front().padded;
  bool in_stack = false;
  bool in_sample = false;
  LineReader lines(text);
  for (std::string_view line; lines.Next(&line);) {
    const bool comment =
        line.starts_with('#') && std::ranges::none_of(pass.left, [&](const PerfLayout& layout) {
          return IsSampleOf(line, layout);
        });
    bool narrow = false;
    if (comment) continue;
    if (TrimLeft(line).empty()) {
      in_stack = in_sample = false;
    } else if (IsPerfFrameLine(line, &narrow)) {
      pass.narrow = pass.narrow || narrow;
      if (padded && narrow) return pass;
      in_stack = true;
      pass.has_frames = true;
    } else if (MentionsSideband(line) || (in_stack && IsIndentedSource(line))) {
      continue;
    } else if (Narrow(line, lines.number(), &pass)) {
      in_stack = false;
      in_sample = true;
    } else if (in_sample && IsIndentedSource(line)) {
      continue;
    } else if (!padded && IsBlankIndentedFrame(line)) {
      pass.narrow = true;  // indented by blanks
    } else {
      pass.line = line;
      pass.number = lines.number();
      return pass;
    }
  }
  return pass;
}

// Drops layouts with a column of misc that is blank in all lines: perf prints whose code ran for
// each sample, and blanks pad the number of another field.
void DropBlankMisc(std::string_view text, std::vector<PerfLayout>* layouts) {
  const auto misc = std::ranges::find_if(*layouts, &PerfLayout::misc);
  if (misc == layouts->end() || std::ranges::all_of(*layouts, &PerfLayout::misc)) return;
  LineReader lines(text);
  for (std::string_view line; lines.Next(&line);) {
    std::optional<PerfHeader> header = MatchPerfHeader(line, *misc);
    if (header && header->has_misc) return;
  }
  std::erase_if(*layouts, [](const PerfLayout& layout) { return layout.misc; });
}

// A line that has no columns of the samples.
struct Misfit {
  std::string_view line = {};
  size_t number = 0;
};

// Returns the first line that does not have the columns of most samples: a message of perf may look
// like some columns, so that the first sample behind it seems to be the one that is wrong. Only
// columns with a time or a task count, which no message has; nothing where no line has any.
std::optional<Misfit> FindMisfit(std::string_view text) {
  constexpr size_t kMostLines = 1000;  // that are compared with each layout
  struct Fit {
    size_t lines = 0;
    std::optional<Misfit> misfit = {};
  };
  const std::vector<PerfLayout>& layouts = PaddedPerfLayouts();
  std::vector<Fit> fits(layouts.size());
  LineReader lines(text);
  size_t compared = 0;
  for (std::string_view line; compared < kMostLines && lines.Next(&line);) {
    bool narrow = false;
    if (line.starts_with('#') || TrimLeft(line).empty() || MentionsSideband(line) ||
        IsIndentedSource(line) || IsPerfFrameLine(line, &narrow)) {
      continue;
    }
    ++compared;
    for (size_t i = 0; i < layouts.size(); ++i) {
      if (!layouts[i].time && layouts[i].task == PerfTask::kNone) continue;
      if (MatchPerfHeader(line, layouts[i])) {
        ++fits[i].lines;
      } else if (!fits[i].misfit) {
        fits[i].misfit = {.line = line, .number = lines.number()};
      }
    }
  }
  const Fit& best = *std::ranges::max_element(fits, {}, &Fit::lines);
  return best.lines > 0 ? best.misfit : std::nullopt;
}

// True for a line that begins with an address or another number in 16 places, with more behind it.
bool BeginsWithWideNumber(std::string_view line) {
  constexpr size_t kWidth = 16;
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const size_t end = std::min(line.find(' ', begin), line.size());
  uint64_t number = 0;
  return end == kWidth && ParseHex(line.substr(begin, end - begin), &number) &&
         (begin > 0 || line.substr(end).starts_with("  "));
}

// True for a line whose columns alone, and with them a number at its end, are no stack with a
// count.
bool LooksPadded(std::string_view line) {
  if (line.find(';') != std::string_view::npos) return false;
  if (line.find(" insn: ") != std::string_view::npos ||
      line.find(" ilen: ") != std::string_view::npos) {
    return true;
  }
  // A stack may be called N/A, which also stands for the time of day.
  if (!line.starts_with('N') && PerfColumns(line).TakeTimeOfDay()) return true;
  if (BeginsWithWideNumber(line)) return true;
  if (line.starts_with(' ') && (!FindPerfFrame(line, true).frame.empty() || line.ends_with(' '))) {
    return true;
  }
  // Two blanks in front of a number pad it; the one of a count is a single one.
  const size_t before = line.find_last_not_of("0123456789");
  if (before != std::string_view::npos && line.substr(0, before + 1).ends_with("  ")) return true;
  // Hexadecimal numbers in columns, such as `19204        3c7244540` of -F tid,phys_addr.
  if (line.find_first_not_of("0123456789abcdef ") == std::string_view::npos &&
      line.find("  ") != std::string_view::npos) {
    return true;
  }
  const size_t number = line.find_last_not_of("0123456789 ");
  const size_t blanks = number == std::string_view::npos ? 0 : number + 1;
  return line.ends_with(' ') || line.substr(blanks).starts_with("  ");
}

// True where a name of samples without tasks has two blanks in a row, as perf puts between columns.
bool HasNameWithTwoBlanks(std::string_view text, const PerfLayout& layout) {
  if (!layout.comm || layout.task != PerfTask::kNone) return false;
  LineReader lines(text);
  for (std::string_view line; lines.Next(&line);) {
    const std::optional<PerfHeader> header = MatchPerfHeader(line, layout);
    if (header && header->comm.find("  ") != std::string_view::npos) return true;
  }
  return false;
}

// Returns the layout of a text that has names with blanks at their ends, if that is one.
std::optional<PerfLayout> FindBlankNameLayout(std::string_view text) {
  Pass pass = TryLayouts(text, BlankNamePerfLayouts());
  if (!pass.line.empty() || pass.narrow || !pass.rest_known || pass.samples == 0) {
    return std::nullopt;
  }
  DropBlankMisc(text, &pass.left);
  return pass.left.front();
}

}  // namespace

PerfLineKind PerfLineSorter::Next(std::string_view line) {
  last_ = KindOf(line);
  return last_;
}

PerfLineKind PerfLineSorter::KindOf(std::string_view line) {
  if (line.starts_with('#') && !IsSampleOf(line, layout_)) return PerfLineKind::kComment;
  if (TrimLeft(line).empty()) return PerfLineKind::kBlank;
  bool narrow = false;
  if (IsPerfFrameLine(line, &narrow)) return PerfLineKind::kFrame;
  const bool in_stack = last_ == PerfLineKind::kFrame || last_ == PerfLineKind::kSource;
  if (in_stack && IsIndentedSource(line)) return PerfLineKind::kSource;
  if (std::optional<PerfHeader> header = MatchPerfHeader(line, layout_)) {
    // perf pads names where samples have no stacks, so that such a line looks like a frame that is
    // indented by blanks; but a frame has no time.
    if (layout_.padded || !IsBlank(line.front()) || header->time_ns) {
      header_ = *header;
      return IsPerfSideband(header_.event) ? PerfLineKind::kSideband : PerfLineKind::kHeader;
    }
  }
  if (MentionsSideband(line)) return PerfLineKind::kSideband;
  if (last_ == PerfLineKind::kHeader && IsIndentedSource(line)) return PerfLineKind::kSource;
  if (!layout_.padded && IsBlankIndentedFrame(line)) return PerfLineKind::kFrame;
  return PerfLineKind::kOther;
}

bool IsPerfRestKnown(const PerfHeader& header, bool padded) {
  const PerfRestFrame frame = FindPerfFrame(header.rest, padded);
  return IsPerfFieldText(frame.frame.empty() ? header.rest : frame.before, padded) ||
         PerfEventName(header.event).find(':') != std::string::npos;
}

Result<PerfLayout> FindPerfLayout(std::string_view text) {
  Pass padded = TryLayouts(text, PaddedPerfLayouts());
  if (padded.line.empty() && !padded.narrow && !padded.rest_known) {
    // Text that does not fit behind perf's own columns may fit behind columns that somebody joined.
    const Pass joined = TryLayouts(text, LoosePerfLayouts());
    if (joined.line.empty() && joined.narrow && joined.rest_known) return joined.left.front();
  }
  if (padded.line.empty() && !padded.narrow) {
    if (padded.samples == 0) return PerfLayout{};
    DropBlankMisc(text, &padded.left);
    // Numbers of 7 digits fill their column in every sample, as names of 7 digits do.
    const PerfLayout& fullest = padded.left.front();
    if ((padded.samples < kPerfFewSamples || fullest.task == PerfTask::kOne7) && !fullest.comm &&
        std::ranges::any_of(padded.left, &PerfLayout::comm)) {
      return LineError("perf script", padded.first_number,
                       "the first column could be a thread's name, or tell of a process, thread or "
                       "CPU; use -F +comm,+pid,+tid",
                       padded.first_line);
    }
    if (HasNameWithTwoBlanks(text, fullest)) {
      // A number behind a name that ends in a blank seems to be a part of the name.
      const std::optional<PerfLayout> blank = FindBlankNameLayout(text);
      if (blank && blank->task != PerfTask::kNone) return *blank;
    }
    return fullest;
  }
  Pass loose = TryLayouts(text, LoosePerfLayouts());
  if (loose.line.empty() && loose.narrow) return loose.left.front();
  if (!padded.narrow) {
    if (const std::optional<PerfLayout> blank = FindBlankNameLayout(text)) return *blank;
    if (const std::optional<Misfit> misfit = FindMisfit(text)) {
      return NoHeader(misfit->line, misfit->number, true);
    }
  }
  const Pass& said = padded.samples > 0 && !padded.line.empty() ? padded : loose;
  const Pass& told = said.line.empty() ? padded : said;
  return NoHeader(told.line, told.number, told.samples > 0 || told.has_frames);
}

bool LooksLikePerfScript(std::string_view text) {
  LineReader lines(text);
  std::string_view line;
  do {
    if (!lines.Next(&line)) return false;
  } while (line.starts_with('#') || TrimLeft(line).empty());
  bool narrow = false;
  if (IsPerfFrameLine(line, &narrow) && !narrow) return true;
  auto fits = [&](const PerfLayout& layout) {
    std::optional<PerfHeader> header = MatchPerfHeader(line, layout);
    return header && (!layout.padded || header->time_ns || header->tid);
  };
  if (std::ranges::any_of(LoosePerfLayouts(), fits)) return true;
  if (std::ranges::any_of(PaddedPerfLayouts(), fits)) return true;
  if (LooksPadded(line)) return true;
  // perf's own messages may come first.
  constexpr size_t kMostLines = 32;
  while (lines.number() < kMostLines && lines.Next(&line)) {
    if (IsPerfFrameLine(line, &narrow) && !narrow) return true;
  }
  return false;
}

}  // namespace firetower::profile
