// SPDX-License-Identifier: Apache-2.0
#include "cli/files/input.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "cli/commands/common.h"
#include "cli/term/progress.h"
#include "profile/import.h"
#include "profile/select/prune.h"

namespace firetower::cli {
namespace {

constexpr size_t kMaxInputBytes = size_t{1} << 30;

std::string_view HowToRead(const Error& error) {
  if (error.code() == ErrorCode::kExhausted) return "give a smaller file: 1 GiB is the most";
  switch (error.sys_errno()) {
    case ENOENT:
    case ENOTDIR:
      return "correct the name; - reads standard input";
    case EACCES:
    case EPERM:
      return "give yourself the right to read it, or pipe it in and name it -";
    case EISDIR:
      return "name a file in it";
    default:
      return "see whether other programs can read it; - reads standard input";
  }
}

// perf ends each line, and each sample that has a stack with an empty one. Samples without stacks,
// and what is no sample, are one line each.
bool EndsInsideSample(std::string_view text) {
  if (text.empty()) return false;
  if (!text.ends_with('\n')) return true;
  text.remove_suffix(1);
  std::string_view last = text.substr(text.rfind('\n') + 1);
  const bool is_sample_line = last.find_first_not_of(" \t\r") != std::string_view::npos &&
                              !last.starts_with('#') &&
                              last.find("PERF_RECORD_") == std::string_view::npos;
  // Frames begin with a tab, and nothing else does.
  return is_sample_line && text.find("\n\t") != std::string_view::npos;
}

}  // namespace

std::string InputName(const std::string& file) { return file == "-" ? "standard input" : file; }

Outcome<std::string> ReadInput(const std::string& file) {
  Result<std::string> bytes =
      file == "-" ? ReadFd(STDIN_FILENO, kMaxInputBytes) : ReadFileOrPipe(file, kMaxInputBytes);
  if (bytes) return *std::move(bytes);
  return Failure{ExitCode::kFailure, fmt::format("cannot read {}", InputName(file)),
                 bytes.error().message(), std::string(HowToRead(bytes.error()))};
}

profile::DecodeOptions InputOptions(const LocalContext& context) {
  profile::DecodeOptions options;
  options.format = profile::FormatOfName(context.args.Get("input-format"));
  options.perf_script.times = !context.args.Has("untimed");
  options.limits.max_bytes = kMaxInputBytes;
  options.entry = context.args.Get("entry");
  return options;
}

bool IsCut(const LocalContext& context, const std::string& file, std::string_view bytes) {
  if (profile::IsPackedFile(bytes)) return false;  // what it holds is known to its reader alone
  std::optional<profile::Format> format = InputOptions(context).format;
  if (!format) {
    const Result<profile::Format> detected = profile::DetectFormat(bytes, file);
    if (detected) format = *detected;
  }
  return format == profile::Format::kPerfScript && EndsInsideSample(bytes);
}

void WarnOfCut(const LocalContext& context, const std::string& file) {
  std::fprintf(stderr,
               "%s: warning: %s ends inside a sample of perf script, without an empty line: if it "
               "was cut, its last stack is too short\n",
               context.program.c_str(), InputName(file).c_str());
}

void WarnOfLosses(const LocalContext& context, const std::string& file,
                  const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    std::fprintf(stderr, "%s: warning: %s: %s\n", context.program.c_str(), InputName(file).c_str(),
                 note.c_str());
  }
}

void DropFrames(const LocalContext& context, const std::string& file, profile::Profile* profile) {
  if (profile->meta().drop_frames.empty()) return;
  Result<profile::Pruned> pruned = profile::PruneFrames(*profile);
  if (!pruned) {
    std::fprintf(stderr, "%s: warning: %s: all frames are shown: %s\n", context.program.c_str(),
                 InputName(file).c_str(), pruned.error().message().c_str());
    return;
  }
  if (pruned->samples == 0) return;
  std::fprintf(stderr,
               "%s: note: %s: drop_frames of the file leaves out the ends of %u stacks, as in go "
               "tool pprof\n",
               context.program.c_str(), InputName(file).c_str(), pruned->samples);
  *profile = std::move(pruned->profile);
}

Failure BadInput(const std::string& file, const Error& error) {
  std::string fix = "if it is of another format, name it with --input-format";
  if (error.code() == ErrorCode::kExhausted)
    fix = "give a smaller file: of a shorter time, or of fewer containers";
  if (error.code() == ErrorCode::kNotFound)
    fix = "name a file of a ZIP with --entry, and leave the flag out otherwise";
  if (error.sys_errno() == profile::kGetItAgain) fix = "get or copy the file again";
  if (error.code() == ErrorCode::kUnsupported || error.sys_errno() == profile::kSaidByMessage)
    fix = "do what the reason says";
  return {ExitCode::kFailure, fmt::format("{} cannot be read as a profile", InputName(file)),
          error.message(), std::move(fix)};
}

Outcome<profile::Profile> ReadProfileFile(const LocalContext& context, const std::string& file) {
  std::optional<Progress> progress(std::in_place, "reading " + InputName(file));
  Outcome<std::string> bytes = ReadInput(file);
  if (!bytes) return bytes.failure();
  std::vector<std::string> notes;
  Result<profile::Profile> profile =
      profile::DecodeProfile(*bytes, file, InputOptions(context), &notes);
  progress.reset();
  if (!profile) return BadInput(file, profile.error());
  WarnOfLosses(context, file, notes);
  if (IsCut(context, file, *bytes)) WarnOfCut(context, file);
  return *std::move(profile);
}

}  // namespace firetower::cli
