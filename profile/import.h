// SPDX-License-Identifier: Apache-2.0
// Reads profiles of other tools. Errors say where the problem is. kCorrupt: bytes that are not of
// the format, with the line or entry and what is allowed there. kExhausted: a limit, by its name.
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

// Error numbers that readers set as sys_errno() when the remedy is clear. This one: the bytes are
// damaged, cut off or missing, so the file has to be fetched again.
inline constexpr int kGetItAgain = EBADMSG;
// The message itself says what to do, as every kUnsupported message does.
inline constexpr int kSaidByMessage = EOPNOTSUPP;

struct ImportLimits {
  size_t max_bytes = size_t{1} << 30;          // of the text
  uint32_t max_entries = 1u << 22;             // samples, frames, events: each
  size_t max_profile_bytes = size_t{2} << 30;  // of the result
};

// Decodes folded stacks, `root;…;leaf N`, as flamegraph.pl reads them: samples/count. If every line
// ends in two counts, as difffolded.pl writes them, the sample types are before/count and
// after/count. The suffix `_[k]` marks a frame of the kernel, and `_[i]` a frame inlined into the
// one before; other suffixes stay part of the name. Ignores empty and blank frames, blank lines,
// and before the first stack lines that begin with `#` and have no count.
Result<Profile> DecodeFolded(std::string_view text, const ImportLimits& limits = {});

// Decodes speedscope's own file format (www.speedscope.app/file-format-schema.json), profiles of
// type sampled and evented. In files that EncodeSpeedscope wrote, each profile becomes a sample
// type again. In other files each unit becomes a sample type (samples/count, time/nanoseconds,
// space/bytes), and weights are rounded to whole units. If there are several profiles, the label
// `profile` names the one that a sample came from.
Result<Profile> DecodeSpeedscope(std::string_view json, const ImportLimits& limits = {});

struct PerfScriptOptions {
  // Keep each sample's time stamp as the label end_timestamp_ns, in nanoseconds of perf's clock.
  // Without it, samples of one thread, CPU and stack add up.
  bool times = true;
};

// Decodes text of `perf script`, with its default fields, fewer or more (docs/formats.md lists
// them). Refuses text that could mean two fields; the error has the line and the command to run
// instead. Sample types are samples/count and the event with its periods added up (cpu/nanoseconds
// for cpu-clock and task-clock); only samples/count if no periods are printed; both for each of
// several events. Labels: comm, pid, tid, cpu and end_timestamp_ns.
Result<Profile> DecodePerfScript(std::string_view text, const PerfScriptOptions& options = {},
                                 const ImportLimits& limits = {},
                                 std::vector<std::string>* notes = nullptr);

// Decodes gperftools' binary CPU profile, as ProfilerStart() writes it, with words of 4 or 8 bytes
// in either byte order: samples/count and cpu/nanoseconds, addresses without names, and the
// executable mappings. Keeps the frames that pprof takes for the signal handler's.
Result<Profile> DecodeGperftools(std::string_view bytes, const ImportLimits& limits = {});

}  // namespace firetower::profile
