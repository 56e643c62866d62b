// SPDX-License-Identifier: Apache-2.0
// Detects, reads and writes the formats of profile files.
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

// Returns the name that users write: pprof, folded, speedscope, perf-script, json, gperftools.
std::string_view FormatName(Format format);
std::optional<Format> FormatOfName(std::string_view name);
// Returns the format of a file name, which may also end in .gz; nothing for an unknown extension.
std::optional<Format> FormatOfFile(std::string_view file_name);

// Detects the format of `bytes`, which are not packed. If several formats are possible, `file_name`
// decides. kCorrupt lists the formats that can be read; kUnsupported names the format that the
// bytes seem to be in.
Result<Format> DetectFormat(std::string_view bytes, std::string_view file_name);

// Tells whether the bytes begin like gzip, zstd, xz or a ZIP.
bool IsPackedFile(std::string_view bytes);

struct DecodeOptions {
  std::optional<Format> format = {};  // detected otherwise
  PerfScriptOptions perf_script = {};
  ImportLimits limits = {};
  // Selects files of a ZIP by name or by a pattern with * and ?; empty: all files. AddToMerge takes
  // every match; DecodeProfile needs exactly one.
  std::string entry = {};
};

// Begins the note on text of perf script that ends inside a sample, which then may lack frames. It
// goes on from the name of the file.
inline constexpr std::string_view kCutNote = "ends inside a sample of perf script";

// Reads a profile of any format that can be read (all but json), plain or packed by gzip, zstd, xz
// or ZIP. `file_name` helps to detect the format and may be empty. kCorrupt: also an empty or blank
// text. kNotFound: a ZIP of which one file must be chosen; the message lists its files. `notes`, if
// given, receives a text for each part of the file that the profile does not have.
Result<Profile> DecodeProfile(std::string_view bytes, std::string_view file_name,
                              const DecodeOptions& options = {},
                              std::vector<std::string>* notes = nullptr);

// Reads a file in the same way and adds it to `merger`, for pprof without an intermediate Profile.
// Only kInvalid means that the file was readable but could not be added.
Status AddToMerge(std::string_view bytes, std::string_view file_name, const DecodeOptions& options,
                  Merger* merger, std::vector<std::string>* notes = nullptr);

struct EncodeOptions {
  // The value to write in formats that hold one value per stack; by default DefaultValueIndex().
  std::optional<uint32_t> value_index = {};
  bool annotate = false;  // folded: suffixes on frames of the kernel and inlined ones
};

// Lists the parts of a profile that a file of `format`, a name of one, svg or html, has no place
// for, and that convert leaves out without being told to: "labels (tid, cpu), comments". Times,
// periods, addresses and source lines are not listed: that these formats have none is known.
std::string ExportLosses(const Profile& profile, std::string_view format);

// Encodes a profile in a format. A difference (profile/diff.h) becomes folded stacks with two
// counts. kInvalid: the format cannot hold the profile. kUnsupported: the format can only be read.
Result<std::string> EncodeProfile(const Profile& profile, Format format,
                                  const EncodeOptions& options = {});

}  // namespace firetower::profile
