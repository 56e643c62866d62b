// SPDX-License-Identifier: Apache-2.0
// Files of profiles: which format one has, reading and writing it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/import.h"
#include "profile/profile.h"

namespace firetower::profile {

class Merger;

enum class Format { kPprof, kFolded, kSpeedscope, kPerfScript, kJson, kGperftools };

// As people write it: pprof, folded, speedscope, perf-script, json, gperftools.
std::string_view FormatName(Format format);
std::optional<Format> FormatOfName(std::string_view name);
// Of the name of a file, also one that ends in .gz; nothing when its extension is not known.
std::optional<Format> FormatOfFile(std::string_view file_name);

// The format that `bytes`, not packed, are of; where they could be of several, the one that
// `file_name` says. kCorrupt lists what is read; kUnsupported says what else they are.
Result<Format> DetectFormat(std::string_view bytes, std::string_view file_name);

// True for the beginning of gzip, zstd, xz or a ZIP.
bool IsPackedFile(std::string_view bytes);

struct DecodeOptions {
  std::optional<Format> format = {};  // detected otherwise
  PerfScriptOptions perf_script = {};
  ImportLimits limits = {};
  // Of a ZIP: which of its files, by name or by a pattern with * and ?. AddToMerge takes all that
  // it names, DecodeProfile needs one; empty: all, which must be one for DecodeProfile.
  std::string entry = {};
};

// Begins the note on text of perf script that ends inside a sample, which then may lack frames. It
// goes on from the name of the file.
inline constexpr std::string_view kCutNote = "ends inside a sample of perf script";

// Reads a profile of any format that can be read (all but json), plain or packed by gzip, zstd, xz
// or ZIP. `file_name` helps to detect the format; it may be empty. A text of nothing but blanks is
// kCorrupt, as no text is; kNotFound lists the files of a ZIP of which one must be chosen. `notes`,
// where they are given, get a text for what the file has and the profile has not.
Result<Profile> DecodeProfile(std::string_view bytes, std::string_view file_name,
                              const DecodeOptions& options = {},
                              std::vector<std::string>* notes = nullptr);

// The same, added to what `merger` holds: pprof without a Profile of its own in between. kInvalid
// alone is a file that can be read, and not added to the sum.
Status AddToMerge(std::string_view bytes, std::string_view file_name, const DecodeOptions& options,
                  Merger* merger, std::vector<std::string>* notes = nullptr);

struct EncodeOptions {
  // Of the formats that hold one value a stack: which one; DefaultValueIndex() if not given.
  std::optional<uint32_t> value_index = {};
  bool annotate = false;  // folded: suffixes on frames of the kernel and inlined ones
};

// Lists the parts of a profile that a file of `format`, a name of one, svg or html, has no place
// for, and that convert leaves out without being told to: "labels (tid, cpu), comments". Times,
// periods, addresses and source lines are not listed: that these formats have none is known.
std::string ExportLosses(const Profile& profile, std::string_view format);

// The bytes of a file of that format. A difference (profile/diff.h) is folded with two counts.
// kInvalid when the format cannot hold the profile, kUnsupported when it is only read.
Result<std::string> EncodeProfile(const Profile& profile, Format format,
                                  const EncodeOptions& options = {});

}  // namespace firetower::profile
