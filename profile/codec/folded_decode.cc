// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string_view>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/codec/folded.h"
#include "profile/codec/text.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kForm = "'root;…;leaf N'";

// Text of an old Mac would be one line, and one stack.
constexpr std::string_view kLoneReturn =
    "a carriage return (\\r) behind a count: where all lines end in one, run `tr '\\r' '\\n' < "
    "FILE`";

bool IsCount(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  const size_t dot = word.find('.');
  if (dot == std::string_view::npos) return IsDigits(word);
  return IsDigits(word.substr(0, dot)) &&
         (dot + 1 == word.size() || IsDigits(word.substr(dot + 1)));
}

// Takes a count off the end of `*line`; empty when there is none, or nothing before it.
std::string_view TakeCount(std::string_view* line) {
  std::string_view text = TrimRight(*line);
  size_t start = text.size();
  while (start > 0 && !IsBlank(text[start - 1])) --start;
  std::string_view word = text.substr(start);
  if (start == 0 || !IsCount(word)) return {};
  // One blank is the format's; others before it end a name, as flamegraph.pl has it.
  *line = text.substr(0, start - 1);
  return word;
}

// True of a line that begins with '#' and has no count, as flamegraph.pl passes over. Those before
// the first stack are comments.
bool IsComment(std::string_view line) { return line.starts_with('#') && TakeCount(&line).empty(); }

// True where a stack and its count end in a carriage return inside the line. Names may have others.
bool HasCountBeforeReturn(std::string_view line) {
  for (size_t at = line.find('\r'); at != std::string_view::npos; at = line.find('\r')) {
    std::string_view before = line.substr(0, at);
    if (!TakeCount(&before).empty()) return true;
    line.remove_prefix(at + 1);
  }
  return false;
}

// Two counts at the end of each line, as difffolded.pl writes them. One of them alone may as well
// be the end of a name.
bool HasTwoCounts(std::string_view text) {
  LineReader lines(text);
  bool any = false;
  for (std::string_view line; lines.Next(&line);) {
    if (TrimLeft(line).empty() || (!any && IsComment(line))) continue;
    if (TakeCount(&line).empty() || TakeCount(&line).empty() || TrimLeft(line).empty()) {
      return false;
    }
    any = true;
  }
  return any;
}

class FoldedDecoder {
 public:
  FoldedDecoder(const ImportLimits& limits, bool two_counts)
      : limits_(limits),
        counts_(two_counts ? 2 : 1),
        builder_(MetaOf(two_counts),
                 {.max_samples = limits.max_entries, .max_bytes = limits.max_profile_bytes}) {}

  Result<Profile> Decode(std::string_view text) {
    LineReader lines(text);
    bool any = false;
    for (std::string_view line; lines.Next(&line);) {
      if (TrimLeft(line).empty() || (!any && IsComment(line))) continue;
      RETURN_IF_ERROR(AddLine(line, lines.number()));
      any = true;
    }
    if (builder_.saturated_values() > 0) {
      return Error(ErrorCode::kExhausted, "folded: the counts of a stack pass 2^63");
    }
    return std::move(builder_).Build();
  }

 private:
  static Meta MetaOf(bool two_counts) {
    Meta meta;
    meta.sample_types = {{"samples", "count"}};
    if (two_counts) meta.sample_types = {{"before", "count"}, {"after", "count"}};
    return meta;
  }

  Status AddLine(std::string_view line, size_t number) {
    if (HasCountBeforeReturn(line)) {
      return LineError("folded", number, kLoneReturn, line, kSaidByMessage);
    }
    std::string_view stack = line;
    int64_t values[2] = {0, 0};
    for (size_t i = counts_; i-- > 0;) {
      std::string_view count = TakeCount(&stack);
      if (count.empty()) {
        return LineError("folded", number, fmt::format("not of the form {}", kForm), line);
      }
      const size_t dot = count.find('.');
      if (dot != std::string_view::npos &&
          count.find_first_not_of('0', dot + 1) != std::string_view::npos) {
        return LineError("folded", number, "the count is no whole number: scale all of them", line);
      }
      if (!ParseWhole(count.substr(0, dot), &values[i])) {
        return LineError("folded", number, "the count does not fit in 64 bits", line);
      }
    }
    AddFrames(stack);
    if (builder_.AddSample(stack_, {values, counts_})) return OkStatus();
    return Error(ErrorCode::kExhausted,
                 fmt::format("folded line {}: more than {} stacks or {} bytes", number,
                             limits_.max_entries, limits_.max_profile_bytes));
  }

  // From the leaf on: what is inlined comes before what it is inlined into.
  void AddFrames(std::string_view stack) {
    stack_.clear();
    lines_.clear();
    if (stack == kNoStack) return;
    while (!stack.empty()) {
      const size_t cut = stack.rfind(';');
      std::string_view frame = stack.substr(cut == std::string_view::npos ? 0 : cut + 1);
      stack = stack.substr(0, cut == std::string_view::npos ? 0 : cut);
      if (!TrimLeft(frame).empty()) AddFrame(frame);
    }
    AddLocation(kNoMapping);  // of a root that says it is inlined
  }

  void AddFrame(std::string_view frame) {
    const bool kernel = frame.ends_with(kKernelSuffix);
    const bool inlined = frame.ends_with(kInlinedSuffix);
    if (kernel || inlined) frame.remove_suffix(kKernelSuffix.size());
    static_assert(kKernelSuffix.size() == kInlinedSuffix.size());
    lines_.push_back({.function = builder_.AddFunction(frame, frame, "")});
    if (inlined) return;
    AddLocation(!kernel ? kNoMapping
                        : builder_.AddMapping({.filename = builder_.AddString(kKernelMapping),
                                               .flags = Mapping::kHasFunctions}));
  }

  void AddLocation(uint32_t mapping) {
    if (lines_.empty()) return;
    stack_.push_back(builder_.AddLocation(mapping, 0, lines_));
    lines_.clear();
  }

  ImportLimits limits_;
  size_t counts_;
  ProfileBuilder builder_;
  std::vector<uint32_t> stack_;
  std::vector<Line> lines_;
};

}  // namespace

Result<Profile> DecodeFolded(std::string_view text, const ImportLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Error(ErrorCode::kExhausted, fmt::format("folded: {} bytes, more than the limit of {}",
                                                    text.size(), limits.max_bytes));
  }
  return FoldedDecoder(limits, HasTwoCounts(text)).Decode(text);
}

}  // namespace firetower::profile
