// SPDX-License-Identifier: Apache-2.0
#include "profile/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "profile/codec/detect.h"
#include "profile/codec/foreign.h"
#include "profile/codec/losses.h"
#include "profile/codec/packed/unpack.h"
#include "profile/diff.h"
#include "profile/export.h"
#include "profile/import.h"
#include "profile/merge.h"
#include "profile/pprof.h"

namespace firetower::profile {
namespace {

struct Name {
  Format format;
  std::string_view name;
};
constexpr Name kNames[] = {
    {Format::kPprof, "pprof"},           {Format::kFolded, "folded"},
    {Format::kSpeedscope, "speedscope"}, {Format::kPerfScript, "perf-script"},
    {Format::kGperftools, "gperftools"}, {Format::kJson, "json"}};

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

bool IsBinaryFormat(Format format) {
  return format == Format::kPprof || format == Format::kGperftools;
}

// A file's bytes, unpacked, without the mark that some editors put before a text.
struct Opened {
  std::string_view bytes = {};
  Format format = Format::kPprof;
  bool is_guess = false;  // by the content alone
};

Result<Opened> Open(const Unpacked& file, const DecodeOptions& options) {
  Opened opened{.bytes = file.bytes};
  const bool may_be_text = !options.format || !IsBinaryFormat(*options.format);
  if (may_be_text && IsBlankText(opened.bytes)) {
    return Error(ErrorCode::kCorrupt,
                 opened.bytes.empty() ? "the file is empty" : "the file holds nothing but blanks",
                 kGetItAgain);
  }
  if (options.format) {
    opened.format = *options.format;
  } else {
    const Result<Format> detected = DetectFormat(opened.bytes, file.name);
    if (!detected && !file.command.empty()) {
      if (std::optional<Error> foreign = ForeignFile(WithoutMark(opened.bytes), file.command))
        return *std::move(foreign);
    }
    if (!detected) return detected.error();
    opened.format = *detected;
    opened.is_guess = FormatOfFile(file.name) != Format::kPprof;
  }
  if (!IsBinaryFormat(opened.format)) opened.bytes = WithoutMark(opened.bytes);
  return opened;
}

PprofDecodeLimits PprofLimits(const ImportLimits& limits) {
  return {.max_inflated_bytes = limits.max_bytes, .max_entries = limits.max_entries};
}

// The messages of perf script say what to run instead.
Result<Profile> WithRemedy(Result<Profile> profile) {
  if (profile || profile.error().code() != ErrorCode::kCorrupt) return profile;
  return Error(ErrorCode::kCorrupt, profile.error().message(), kSaidByMessage);
}

// Returns the error for a file that was taken for pprof, and may be a text with one odd byte in it
// or no profile at all.
Error WithGuess(const Opened& opened, const Error& error) {
  if (!opened.is_guess || error.code() != ErrorCode::kCorrupt || BeginsAsPprof(opened.bytes))
    return error;
  if (!IsNearlyText(opened.bytes)) return UnknownFormat();
  const auto odd = std::ranges::find_if(opened.bytes, IsBinaryByte);
  if (odd == opened.bytes.end()) return error;
  return {
      ErrorCode::kCorrupt,
      fmt::format("{}; it was taken for pprof because byte {} is 0x{:02x}, which no text has: "
                  "take that out if it is one",
                  error.message(), odd - opened.bytes.begin(), static_cast<unsigned char>(*odd))};
}

Result<Profile> Decode(const Opened& opened, const DecodeOptions& options,
                       std::vector<std::string>* notes) {
  if (!IsBinaryFormat(opened.format)) AddNoteOfText(opened.bytes, notes);
  switch (opened.format) {
    case Format::kPprof: {
      PprofLosses losses;
      Result<Profile> profile =
          DecodePprof(opened.bytes, PprofLimits(options.limits), notes ? &losses : nullptr);
      AddNoteOfPprof(losses, notes);
      if (!profile) return WithGuess(opened, profile.error());
      return profile;
    }
    case Format::kFolded:
      return DecodeFolded(opened.bytes, options.limits);
    case Format::kSpeedscope:
      return DecodeSpeedscope(opened.bytes, options.limits);
    case Format::kPerfScript: {
      Result<Profile> profile =
          WithRemedy(DecodePerfScript(opened.bytes, options.perf_script, options.limits, notes));
      if (profile) {
        AddNoteOfThreads(*profile, notes);
        AddNoteOfCut(opened.bytes, notes);
      }
      return profile;
    }
    case Format::kGperftools:
      return DecodeGperftools(opened.bytes, options.limits);
    case Format::kJson:
      break;
  }
  return Error(ErrorCode::kUnsupported,
               fmt::format("the format {} is written, not read: give a file of pprof, folded "
                           "stacks, speedscope, perf script or gperftools",
                           FormatName(opened.format)));
}

Status AddOne(const Unpacked& file, const DecodeOptions& options, Merger* merger,
              std::vector<std::string>* notes) {
  ASSIGN_OR_RETURN(const Opened opened, Open(file, options));
  if (opened.format == Format::kPprof) {
    const Status added = merger->AddPprof(opened.bytes, PprofLimits(options.limits));
    if (added && notes != nullptr) AddNoteOfPprof(merger->read_losses(), notes);
    return added ? added : Status(WithGuess(opened, added.error()));
  }
  ASSIGN_OR_RETURN(const Profile profile, Decode(opened, options, notes));
  return merger->Add(profile);
}

Status WithWay(const Unpacked& file, Status status) {
  return file.way.empty() ? std::move(status) : std::move(status).Context(file.way);
}

// Says of notes on an entry of a ZIP which one that is, and that it is the entry that ends.
void AddEntry(const Unpacked& file, size_t first, std::vector<std::string>* notes) {
  if (notes == nullptr || !file.is_of_zip) return;
  for (size_t i = first; i < notes->size(); ++i) {
    std::string& note = (*notes)[i];
    note = fmt::format("{}: {}{}", file.way, note.starts_with(kCutNote) ? "it " : "", note);
  }
}

UnpackOptions UnpackOptionsOf(const DecodeOptions& options, bool all_entries) {
  return {
      .max_bytes = options.limits.max_bytes, .entry = options.entry, .all_entries = all_entries};
}

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

bool IsPackedFile(std::string_view bytes) { return IsPacked(bytes); }

Result<Profile> DecodeProfile(std::string_view bytes, std::string_view file_name,
                              const DecodeOptions& options, std::vector<std::string>* notes) {
  Profile profile;
  const auto decode = [&](const Unpacked& file) -> Status {
    ASSIGN_OR_RETURN(const Opened opened, Open(file, options));
    ASSIGN_OR_RETURN(profile, Decode(opened, options, notes));
    AddEntry(file, 0, notes);
    return OkStatus();
  };
  RETURN_IF_ERROR(Unpack(bytes, file_name, UnpackOptionsOf(options, false),
                         [&](const auto& file) { return WithWay(file, decode(file)); }));
  return profile;
}

Status AddToMerge(std::string_view bytes, std::string_view file_name, const DecodeOptions& options,
                  Merger* merger, std::vector<std::string>* notes) {
  return Unpack(bytes, file_name, UnpackOptionsOf(options, true), [&](const auto& file) {
    const size_t first = notes == nullptr ? 0 : notes->size();
    const Status added = AddOne(file, options, merger, notes);
    AddEntry(file, first, notes);
    return WithWay(file, added);
  });
}

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
    case Format::kGperftools:
      break;
  }
  return Error(ErrorCode::kUnsupported,
               fmt::format("the format {} is read, not written", FormatName(format)));
}

}  // namespace firetower::profile
