// SPDX-License-Identifier: Apache-2.0
#include "cli/files/input.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "cli/commands/common.h"
#include "cli/term/progress.h"

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
  return options;
}

Failure BadInput(const std::string& file, const Error& error) {
  std::string fix = "if it is of another format, name it with --input-format";
  if (error.code() == ErrorCode::kExhausted)
    fix = "give a smaller file: of a shorter time, or of fewer containers";
  if (error.code() == ErrorCode::kUnsupported)
    fix = "give a file of one of the formats that 'merge --help' names";
  return {ExitCode::kFailure, fmt::format("{} cannot be read as a profile", InputName(file)),
          error.message(), std::move(fix)};
}

Outcome<profile::Profile> ReadProfileFile(const LocalContext& context, const std::string& file) {
  const Progress progress("reading " + InputName(file));
  Outcome<std::string> bytes = ReadInput(file);
  if (!bytes) return bytes.failure();
  Result<profile::Profile> profile = profile::DecodeProfile(*bytes, file, InputOptions(context));
  if (!profile) return BadInput(file, profile.error());
  return *std::move(profile);
}

}  // namespace firetower::cli
