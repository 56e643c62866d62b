// SPDX-License-Identifier: Apache-2.0
#include "cli/files/input.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "cli/commands/common.h"
#include "cli/term/progress.h"
#include "cli/term/table.h"
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

// Returns the part of a reader's message that says what to do: it stands behind the last "; ", else
// behind the last ": ", and before the line that the message may quote.
std::string_view RemedyIn(std::string_view message) {
  if (message.ends_with('\'')) message = message.substr(0, message.find(": '"));
  for (const std::string_view mark : {"; ", ": "}) {
    const size_t at = message.rfind(mark);
    if (at != std::string_view::npos) return message.substr(at + mark.size());
  }
  return message;
}

// A name that a shell takes as it is.
bool IsPlainName(std::string_view name) {
  return std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+=@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// The same with the file's name in the commands.
std::string RemedyFor(const std::string& file, const Error& error) {
  constexpr std::string_view kFile = "FILE";
  std::string remedy(RemedyIn(error.message()));
  if (file == "-" || !IsPlainName(file)) return remedy;
  size_t at = remedy.find(kFile);
  while (at != std::string::npos) {
    remedy.replace(at, kFile.size(), file);
    at = remedy.find(kFile, at + file.size());
  }
  return remedy;
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

void WarnOfLosses(const LocalContext& context, const std::string& file,
                  const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    const char* between = note.starts_with(profile::kCutNote) ? "" : ":";
    std::fprintf(stderr, "%s: warning: %s%s %s\n", context.program.c_str(), InputName(file).c_str(),
                 between, note.c_str());
  }
}

void TellExportLosses(const LocalContext& context, const profile::Profile& profile,
                      std::string_view format) {
  const std::string losses = profile::ExportLosses(profile, format);
  if (losses.empty()) return;
  const std::string line = fmt::format(
      "{}: note: {} has no place for {}, and leaves them out: write pprof "
      "to keep them",
      context.program, format, losses);
  std::fprintf(stderr, "%s\n", Printable(line, context.terminal.utf8).c_str());
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
    fix = RemedyFor(file, error);
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
  return *std::move(profile);
}

}  // namespace firetower::cli
