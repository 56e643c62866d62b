// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/detect.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "profile/codec/foreign.h"
#include "profile/codec/gperftools.h"
#include "profile/codec/perf/layout.h"
#include "profile/codec/pprof/wire.h"
#include "profile/codec/text.h"
#include "profile/format.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

// How much of a file is looked at.
constexpr size_t kLookBytes = 64 << 10;

bool IsBinary(std::string_view text) {
  return std::ranges::any_of(text.substr(0, kLookBytes), IsBinaryByte);
}

bool EndsInCount(std::string_view line) {
  line = TrimRight(line);
  const size_t blank = line.find_last_of(" \t");
  if (blank == std::string_view::npos || blank == 0) return false;
  std::string_view word = line.substr(blank + 1);
  if (word.starts_with('-')) word.remove_prefix(1);
  return IsDigits(word.substr(0, word.find('.')));
}

// Returns the format by the first line that is neither blank nor a comment, however long it is. A
// text with only comments counts as folded stacks if they end in counts.
std::optional<Format> FormatOfText(std::string_view text) {
  LineReader lines(text);
  bool has_counts = false;
  for (std::string_view line; lines.Next(&line);) {
    if (TrimLeft(line).empty()) continue;
    if (line.starts_with('#')) {
      has_counts = has_counts || EndsInCount(line);
      continue;
    }
    if (LooksLikePerfScript(text.substr(static_cast<size_t>(line.data() - text.data())))) {
      return Format::kPerfScript;
    }
    if (EndsInCount(line)) return Format::kFolded;
    return std::nullopt;
  }
  return has_counts ? std::optional(Format::kFolded) : std::nullopt;
}

// Returns the whole lines of the examined part, and at least the first one.
std::string_view LookedAtLines(std::string_view text) {
  if (text.size() <= kLookBytes) return text;
  size_t end = text.rfind('\n', kLookBytes - 1);
  if (end == std::string_view::npos) end = text.find('\n', kLookBytes);
  return end == std::string_view::npos ? text : text.substr(0, end + 1);
}

// Tells whether every whole line of the examined part ends in a count, as in folded stacks;
// comments before the first one need none.
bool AllEndInCounts(std::string_view text) {
  LineReader lines(LookedAtLines(text));
  bool any = false;
  for (std::string_view line; lines.Next(&line);) {
    if (TrimLeft(line).empty()) continue;
    const bool has_count = EndsInCount(line);
    if (!has_count && (any || !line.starts_with('#'))) return false;
    any = any || has_count;
  }
  return any;
}

// True for a brace behind which an object goes on or the text ends: names of folded stacks may
// begin with one, as `{main}` of PHP does.
bool BeginsAsJsonObject(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto skip = [&](size_t size) {
    text.remove_prefix(std::min(size, text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  };
  skip(0);
  if (!text.starts_with('{')) return false;
  skip(1);
  if (text.starts_with('}')) {
    skip(1);
    return text.empty();
  }
  if (!text.starts_with('"')) return text.empty();
  size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  skip(end + 1);
  return text.empty() || text.starts_with(':');
}

// Returns the format of a text whose names hold bytes that texts hardly have.
std::optional<Format> FormatOfOddText(std::string_view text) {
  if (ForEachField(text, [](const WireField&) {})) return std::nullopt;
  if (BeginsAsJsonObject(text)) return Format::kSpeedscope;
  if (FormatOfText(text) == Format::kPerfScript) return Format::kPerfScript;
  if (AllEndInCounts(text)) return Format::kFolded;
  return std::nullopt;
}

// The extension of a packed file does not tell its contents.
std::optional<Format> FormatOfPackedFile(std::string_view file_name) {
  for (const std::string_view extension : {".zst", ".xz", ".zip"}) {
    if (file_name.ends_with(extension)) file_name.remove_suffix(extension.size());
  }
  return FormatOfFile(file_name);
}

}  // namespace

bool IsBinaryByte(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
}

std::string_view WithoutMark(std::string_view text) {
  return text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

bool IsNearlyText(std::string_view bytes) {
  bytes = bytes.substr(0, kLookBytes);
  // In random data one byte in nine is a control character, and half are beyond ASCII.
  const auto odd = static_cast<size_t>(std::ranges::count_if(bytes, IsBinaryByte));
  const auto beyond_ascii = static_cast<size_t>(
      std::ranges::count_if(bytes, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }));
  return odd <= bytes.size() / 16 && (beyond_ascii <= bytes.size() / 4 || IsValidUtf8(bytes));
}

bool BeginsAsPprof(std::string_view bytes) {
  constexpr uint32_t kLastField = 15;  // doc_url
  constexpr int kEnough = 2;           // one may be there by chance
  WireReader in(bytes);
  WireField field;
  for (int i = 0; i < kEnough; ++i) {
    if (in.empty() || !in.ReadField(&field) || field.number > kLastField) return false;
    // Messages and texts come first; the numbers behind them may be in any order.
    constexpr uint32_t kMessages = 6;
    if (field.number <= kMessages && !field.is_bytes) return false;
  }
  return true;
}

Error UnknownFormat() {
  return {ErrorCode::kCorrupt,
          "this is of no format that Firetower knows: give a file of pprof, folded stacks, "
          "speedscope's JSON, the text of perf script, or gperftools' CPU profile",
          kSaidByMessage};
}

bool IsBlankText(std::string_view text) {
  text = WithoutMark(text);
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Result<Format> DetectFormat(std::string_view bytes, std::string_view file_name) {
  if (bytes.empty()) return Error(ErrorCode::kCorrupt, "the file is empty", kGetItAgain);
  bytes = WithoutMark(bytes);
  if (IsGperftools(bytes)) return Format::kGperftools;
  if (std::optional<Error> foreign = ForeignFile(bytes)) return *std::move(foreign);
  if (std::optional<Error> damaged = DamagedGperftools(bytes)) return *std::move(damaged);
  if (IsBinary(bytes)) return FormatOfOddText(bytes).value_or(Format::kPprof);
  if (BeginsAsJsonObject(bytes)) return Format::kSpeedscope;
  std::optional<Format> format = FormatOfText(bytes);
  if (!format) format = FormatOfPackedFile(file_name);
  if (format) return *format;
  // A text may be of a format that --input-format names, and an error of that says more.
  return Error(ErrorCode::kCorrupt, UnknownFormat().message());
}

}  // namespace firetower::profile
