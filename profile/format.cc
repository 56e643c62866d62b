// SPDX-License-Identifier: Apache-2.0
#include "profile/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "profile/codec/gzip.h"
#include "profile/codec/perf_line.h"
#include "profile/codec/text.h"
#include "profile/diff.h"
#include "profile/export.h"
#include "profile/merge.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

struct Name {
  Format format;
  std::string_view name;
};
constexpr Name kNames[] = {{Format::kPprof, "pprof"},
                           {Format::kFolded, "folded"},
                           {Format::kSpeedscope, "speedscope"},
                           {Format::kPerfScript, "perf-script"},
                           {Format::kJson, "json"}};

// The longer ones first.
constexpr Name kExtensions[] = {
    {Format::kSpeedscope, ".speedscope.json"},
    {Format::kSpeedscope, ".speedscope"},
    {Format::kPprof, ".pb"},
    {Format::kPprof, ".pprof"},
    {Format::kPprof, ".prof"},
    {Format::kFolded, ".folded"},
    {Format::kFolded, ".collapsed"},
    {Format::kFolded, ".txt"},
    {Format::kPerfScript, ".perf"},
    {Format::kPerfScript, ".perf-script"},
    {Format::kJson, ".json"},
};

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// How much of a file is looked at.
constexpr size_t kLookBytes = 64 << 10;

// A pprof message is full of small numbers, which no text has.
bool IsBinaryByte(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
}

bool IsBinary(std::string_view text) {
  return std::ranges::any_of(text.substr(0, kLookBytes), IsBinaryByte);
}

bool IsBlankText(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool EndsInCount(std::string_view line) {
  line = TrimRight(line);
  const size_t blank = line.find_last_of(" \t");
  if (blank == std::string_view::npos || blank == 0) return false;
  std::string_view word = line.substr(blank + 1);
  if (word.starts_with('-')) word.remove_prefix(1);
  return IsDigits(word.substr(0, word.find('.')));
}

// What Go's net/http/pprof writes with debug=1, and gperftools: lines that look like others'
// formats.
bool IsTextOfPprof(std::string_view text) {
  constexpr std::string_view kBegins[] = {"heap profile: ", "goroutine profile: total ",
                                          "threadcreate profile: total ", "--- contention",
                                          "--- mutex:"};
  return std::ranges::any_of(kBegins,
                             [&](std::string_view begin) { return text.starts_with(begin); });
}

// The first line that says something.
std::optional<Format> FormatOfText(std::string_view text) {
  LineReader lines(text.substr(0, kLookBytes));
  for (std::string_view line; lines.Next(&line);) {
    if (TrimLeft(line).empty() || line.starts_with('#')) continue;
    if (ParsePerfHeader(line)) return Format::kPerfScript;
    if (EndsInCount(line)) return Format::kFolded;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string_view FormatName(Format format) {
  return std::ranges::find(kNames, format, &Name::format)->name;
}

std::optional<Format> FormatOfName(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &Name::name);
  if (found == std::end(kNames)) return std::nullopt;
  return found->format;
}

std::optional<Format> FormatOfFile(std::string_view file_name) {
  if (file_name.ends_with(".gz")) file_name.remove_suffix(3);
  for (const Name& extension : kExtensions) {
    if (file_name.ends_with(extension.name)) return extension.format;
  }
  return std::nullopt;
}

Result<Format> DetectFormat(std::string_view bytes, std::string_view file_name) {
  if (bytes.empty()) return Error(ErrorCode::kCorrupt, "the file is empty");
  if (IsBinary(bytes)) return Format::kPprof;
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && bytes[first] == '{') return Format::kSpeedscope;
  if (IsTextOfPprof(bytes)) {
    return Error(ErrorCode::kUnsupported,
                 "this is a profile of Go or gperftools as text: ask Go for it without debug=1, "
                 "or make a pprof file of this one with `go tool pprof -proto FILE`");
  }
  std::optional<Format> format = FormatOfText(bytes);
  if (!format) format = FormatOfFile(file_name);
  if (format) return *format;
  return Error(ErrorCode::kCorrupt,
               "this is no profile that can be read: pprof, folded stacks, speedscope's JSON and "
               "what perf script prints are");
}

namespace {

// A file's bytes, inflated if need be, without the mark that some editors put before a text.
struct Opened {
  std::string inflated = {};
  std::string_view bytes = {};
  Format format = Format::kPprof;
  bool is_guess = false;  // by the content alone
};

Status Open(std::string_view bytes, std::string_view file_name, const DecodeOptions& options,
            Opened* opened) {
  opened->bytes = bytes;
  if (IsGzip(bytes)) {
    ASSIGN_OR_RETURN(opened->inflated, GzipDecompress(bytes, options.limits.max_bytes));
    opened->bytes = opened->inflated;
  }
  const bool may_be_text = !options.format || *options.format != Format::kPprof;
  if (may_be_text && IsBlankText(opened->bytes)) {
    return Error(ErrorCode::kCorrupt,
                 opened->bytes.empty() ? "the file is empty" : "the file holds nothing but blanks");
  }
  if (options.format) {
    opened->format = *options.format;
  } else {
    ASSIGN_OR_RETURN(opened->format, DetectFormat(opened->bytes, file_name));
    opened->is_guess = !IsGzip(bytes) && FormatOfFile(file_name) != Format::kPprof;
  }
  if (opened->format != Format::kPprof && opened->bytes.starts_with(kByteOrderMark)) {
    opened->bytes.remove_prefix(kByteOrderMark.size());
  }
  return OkStatus();
}

PprofDecodeLimits PprofLimits(const ImportLimits& limits) {
  return {.max_inflated_bytes = limits.max_bytes, .max_entries = limits.max_entries};
}

// What was taken for pprof may be a text with one odd byte in it.
Error WithGuess(const Opened& opened, const Error& error) {
  const auto odd = std::ranges::find_if(opened.bytes, IsBinaryByte);
  if (!opened.is_guess || error.code() != ErrorCode::kCorrupt || odd == opened.bytes.end())
    return error;
  return {
      ErrorCode::kCorrupt,
      fmt::format("{}; it was taken for pprof because byte {} is 0x{:02x}, which no text has: "
                  "take that out if it is one",
                  error.message(), odd - opened.bytes.begin(), static_cast<unsigned char>(*odd))};
}

}  // namespace

Result<Profile> DecodeProfile(std::string_view bytes, std::string_view file_name,
                              const DecodeOptions& options) {
  Opened opened;
  RETURN_IF_ERROR(Open(bytes, file_name, options, &opened));
  switch (opened.format) {
    case Format::kPprof: {
      Result<Profile> profile = DecodePprof(opened.bytes, PprofLimits(options.limits));
      if (!profile) return WithGuess(opened, profile.error());
      return profile;
    }
    case Format::kFolded:
      return DecodeFolded(opened.bytes, options.limits);
    case Format::kSpeedscope:
      return DecodeSpeedscope(opened.bytes, options.limits);
    case Format::kPerfScript:
      return DecodePerfScript(opened.bytes, options.perf_script, options.limits);
    case Format::kJson:
      break;
  }
  return Error(ErrorCode::kUnsupported,
               fmt::format("the format {} is written, not read", FormatName(opened.format)));
}

Status AddToMerge(std::string_view bytes, std::string_view file_name, const DecodeOptions& options,
                  Merger* merger) {
  Opened opened;
  RETURN_IF_ERROR(Open(bytes, file_name, options, &opened));
  if (opened.format == Format::kPprof) {
    const Status added = merger->AddPprof(opened.bytes, PprofLimits(options.limits));
    return added ? added : Status(WithGuess(opened, added.error()));
  }
  DecodeOptions known = options;
  known.format = opened.format;
  ASSIGN_OR_RETURN(Profile profile, DecodeProfile(opened.bytes, file_name, known));
  return merger->Add(profile);
}

namespace {

// Some sum of these values may, as of equal stacks with different labels, which folded ones add up:
// the total of their sizes does.
bool MayPassInt64(const Profile& profile, uint32_t value_index) {
  int64_t sizes = 0;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const int64_t value = profile.sample(i).values[value_index];
    if (value == INT64_MIN) return true;
    if (__builtin_add_overflow(sizes, value < 0 ? -value : value, &sizes)) return true;
  }
  return false;
}

}  // namespace

Result<std::string> EncodeProfile(const Profile& profile, Format format,
                                  const EncodeOptions& options) {
  const uint32_t value_index = options.value_index.value_or(profile.DefaultValueIndex());
  switch (format) {
    case Format::kPprof:
      return EncodePprof(profile);
    case Format::kFolded: {
      if (profile.sample_types().empty()) return std::string();
      if (MayPassInt64(profile, value_index)) {
        return Error(ErrorCode::kExhausted,
                     fmt::format("the values of {} do not fit in 64 bits when added up: write "
                                 "pprof, or choose another value with --sample-type",
                                 profile.sample_types()[value_index].type));
      }
      const FoldedOptions folded{.mark_kernel = options.annotate, .mark_inlined = options.annotate};
      return IsDiff(profile) ? ToFoldedDiff(profile, value_index, folded)
                             : ToFolded(profile, value_index, folded);
    }
    case Format::kSpeedscope:
      return EncodeSpeedscope(profile);
    case Format::kJson:
      return ToJson(profile);
    case Format::kPerfScript:
      break;
  }
  return Error(ErrorCode::kUnsupported,
               fmt::format("the format {} is read, not written", FormatName(format)));
}

}  // namespace firetower::profile
