// SPDX-License-Identifier: Apache-2.0
// Profiles of other tools. Errors say where: kCorrupt for bytes that are not of the format, with
// the line or entry and what is allowed there; kExhausted for a limit, by its name.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace firetower::profile {

// Readers' errors have one of these as sys_errno() where it is clear what mends a file. The bytes
// are damaged or cut off, or there are none: the file has to be fetched again.
inline constexpr int kGetItAgain = EBADMSG;
// The message says what to do, as every message of kUnsupported does.
inline constexpr int kSaidByMessage = EOPNOTSUPP;

struct ImportLimits {
  size_t max_bytes = size_t{1} << 30;          // of the text
  uint32_t max_entries = 1u << 22;             // samples, frames, events: each
  size_t max_profile_bytes = size_t{2} << 30;  // of the result
};

// Folded stacks, `root;…;leaf N`, as flamegraph.pl reads them: samples/count. If every line ends in
// two counts, as difffolded.pl writes them, the sample types are before/count and after/count.
// `_[k]` at a frame's end makes it one of the kernel, `_[i]` one inlined into the frame before it;
// other suffixes stay part of the name. Frames of nothing or of blanks are left out; blank
// lines too, and before the first stack lines that begin with `#` and have no count.
Result<Profile> DecodeFolded(std::string_view text, const ImportLimits& limits = {});

// speedscope's own file format (www.speedscope.app/file-format-schema.json), profiles of type
// sampled and evented. Of files that EncodeSpeedscope wrote each profile is a sample type again.
// Of others one unit is one sample type (samples/count, time/nanoseconds, space/bytes), weights
// are rounded to whole ones of it, and where there are several profiles the label `profile` says
// from which one a sample came.
Result<Profile> DecodeSpeedscope(std::string_view json, const ImportLimits& limits = {});

struct PerfScriptOptions {
  // Keep each sample's time stamp as the label end_timestamp_ns, in nanoseconds of perf's clock.
  // Without, samples of one thread, CPU and stack add up.
  bool times = true;
};

// Text of `perf script`, with its default fields, fewer or more; docs/formats.md has which. What
// could be of two fields is refused, by line and with what to run instead. Sample types are
// samples/count and the event with its periods added up (cpu/nanoseconds for cpu-clock and
// task-clock), the samples alone where no periods are printed; of several events, both for each.
// Labels: comm, pid, tid, cpu and end_timestamp_ns. `notes`, where they are given, get a text for a
// column that is read in one way and could be another's.
Result<Profile> DecodePerfScript(std::string_view text, const PerfScriptOptions& options = {},
                                 const ImportLimits& limits = {},
                                 std::vector<std::string>* notes = nullptr);

// gperftools' binary CPU profile, as ProfilerStart() writes it, words of 4 or 8 bytes in either
// order: samples/count and cpu/nanoseconds, addresses without names, the mappings that are
// executable. What pprof guesses to be frames of the signal's handler stays.
Result<Profile> DecodeGperftools(std::string_view bytes, const ImportLimits& limits = {});

}  // namespace firetower::profile
