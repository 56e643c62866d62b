// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "cli/commands/common.h"
#include "cli/commands/naming.h"
#include "cli/term/progress.h"
#include "profile/pprof.h"

namespace firetower::cli {
namespace {

Outcome<profile::Format> PickFormat(const LocalContext& context, const std::string& file,
                                    std::string_view format_flag) {
  if (context.args.Has(format_flag)) {
    // The table of flags lets only known names through.
    return profile::FormatOfName(context.args.Get(format_flag)).value();
  }
  if (file == "-") return profile::Format::kPprof;
  std::optional<profile::Format> format = profile::FormatOfFile(file);
  if (format && *format != profile::Format::kPerfScript) return *format;
  const bool draws = context.args.command->name == "convert";
  if (context.args.command->name == "diff") {
    return BadFlag(
        context,
        Error(
            ErrorCode::kInvalid,
            fmt::format("the name '{}' does not determine a format that can be written: give -o "
                        "table, wide, json, folded or pprof, or end it in .json, .folded or .pb.gz",
                        file)));
  }
  return BadFlag(context,
                 Error(ErrorCode::kInvalid,
                       fmt::format("the name '{}' does not determine a format that can be written: "
                                   "give --{} pprof, folded, speedscope{} or json, or end it in "
                                   ".pb.gz, .folded, .speedscope.json{} or .json",
                                   file, format_flag, draws ? ", svg, html" : "",
                                   draws ? ", .svg, .html" : "")));
}

// `diff` compares one value whatever it writes, and `convert` takes a line for all its formats.
std::optional<Failure> RefuseValue(const LocalContext& context, profile::Format format) {
  const std::string_view command = context.args.command->name;
  if (format == profile::Format::kFolded || command == "diff" || command == "convert")
    return std::nullopt;
  return RefuseFlags(
      context, {"sample-type"},
      fmt::format("picks one value: {} has all of them", profile::FormatName(format)));
}

// Returns the flags that give a command an output file.
std::string_view FileExample(const LocalContext& context, std::string_view format_flag) {
  if (format_flag == "output") return "-f FILE.pb.gz";
  return context.args.command->name == "convert" ? "the name of a file" : "-o FILE.pb.gz";
}

// The file that a symlink leads to, there or not; any other name as it is.
Result<std::string> EndOfLinks(const std::string& name) {
  constexpr int kMaxLinks = 40;  // the kernel's own bound, path_resolution(7)
  std::filesystem::path path = name;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error)) return path.string();
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) return ErrnoError("readlink " + path.string(), error.value());
    path = path.parent_path() / next;
  }
  return ErrnoError(name, ELOOP);
}

// A FIFO waits for its reader, as a shell's `>` does.
Status WriteThrough(const std::string& file, std::string_view data) {
  UniqueFd fd;
  do {
    fd = UniqueFd(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  } while (!fd && errno == EINTR);
  if (!fd) return ErrnoError("open " + file);
  return WriteAll(fd.get(), data).Context(file);
}

// Files are replaced whole, where their symlinks lead, and keep their mode; whose they are is not
// kept. What holds no bytes of its own, a FIFO or a device, is written to: a file in its place
// would be the end of it.
Status WriteFileOrPipe(const std::string& file, std::string_view data) {
  struct stat info {};
  if (::stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return WriteThrough(file, data);
  ASSIGN_OR_RETURN(const std::string target, EndOfLinks(file));
  if (::stat(target.c_str(), &info) != 0) return WriteFileAtomic(target, data);
  const mode_t mode = info.st_mode & 0777;
  const auto fill = [&](int fd) -> Status {
    // Made for its owner alone until it is known that the mode, which the umask may cut, is set.
    if (::fchmod(fd, mode) != 0) return ErrnoError("chmod");
    return WriteAll(fd, data);
  };
  return WriteFileAtomic(target, fill, 0600);
}

}  // namespace

std::optional<Failure> RefuseToWrite(const LocalContext& context, const std::string& file) {
  struct stat info {};
  if (file == "-" || ::stat(file.c_str(), &info) != 0) return std::nullopt;
  if (S_ISDIR(info.st_mode)) {
    return Failure{ExitCode::kFailure, fmt::format("cannot write {}", file), "it is a folder",
                   "name a file in it"};
  }
  if (!S_ISREG(info.st_mode) || context.args.Has("force")) return std::nullopt;
  return Failure{ExitCode::kFailure, fmt::format("{} is not overwritten", file), "it exists",
                 "give --force, or another name"};
}

Outcome<ProfileOutput> PickOutput(const LocalContext& context, const std::string& file,
                                  std::string_view format_flag) {
  Outcome<profile::Format> format = PickFormat(context, file, format_flag);
  if (!format) return format.failure();
  if (file == "-" && *format == profile::Format::kPprof && context.terminal.is_tty) {
    return BadFlag(context,
                   Error(ErrorCode::kInvalid,
                         fmt::format("a pprof file is binary and this is a terminal: give {}, or "
                                     "--{} folded to read it here",
                                     FileExample(context, format_flag), format_flag)));
  }
  if (std::optional<Failure> refused = RefuseValue(context, *format)) return *std::move(refused);
  if (std::optional<Failure> refused = RefuseToWrite(context, file)) return *std::move(refused);
  return ProfileOutput{.file = file, .format = *format};
}

Outcome<ProfileOutput> PickOutput(const LocalContext& context) {
  return PickOutput(context, context.args.Has("file") ? context.args.Get("file") : "-", "output");
}

Outcome<int> WriteProfile(const LocalContext& context, const ProfileOutput& output,
                          std::string pprof) {
  const bool names = context.args.Has("symbols");
  if (output.format == profile::Format::kPprof && !names) {
    return WriteData(output.file, pprof, profile::FormatName(output.format));
  }
  Result<profile::Profile> profile = profile::DecodePprof(pprof);
  if (!profile) {
    return Failure{ExitCode::kFailure, "the server's profile cannot be read",
                   profile.error().message(), "fetch it with -o pprof to look at it"};
  }
  if (names) {
    Outcome<profile::Profile> named = NameHere(context, *profile);
    if (!named) return named.failure();
    *profile = std::move(*named);
  }
  return WriteProfile(context, output, *profile);
}

Outcome<int> WriteProfile(const LocalContext& context, const ProfileOutput& output,
                          const profile::Profile& profile) {
  if (output.format != profile::Format::kFolded) return WriteProfile(output, profile);
  Outcome<uint32_t> value_index = PickValue(context, profile, "sample-type");
  if (!value_index) return value_index.failure();
  TellValue(context, profile, *value_index, "sample-type", "folded");
  return WriteProfile(output, profile, {.value_index = *value_index});
}

Outcome<int> WriteProfile(const ProfileOutput& output, const profile::Profile& profile,
                          const profile::EncodeOptions& options) {
  std::optional<Progress> progress(std::in_place, "writing");
  Result<std::string> data = profile::EncodeProfile(profile, output.format, options);
  progress.reset();
  if (!data) {
    return Failure{
        ExitCode::kFailure,
        fmt::format("this profile cannot be written as {}", profile::FormatName(output.format)),
        data.error().message(),
        output.format == profile::Format::kFolded ? "write it as pprof or json"
                                                  : "write it as pprof, folded or json"};
  }
  return WriteData(output.file, *data, profile::FormatName(output.format));
}

Outcome<int> WriteData(const std::string& file, std::string_view data, std::string_view what) {
  if (file == "-") return Emit(data, ExitCode::kOk);
  Status written = WriteFileOrPipe(file, data);
  if (!written) {
    return Failure{ExitCode::kFailure, fmt::format("cannot write {}", file),
                   written.error().message(), "choose another place"};
  }
  std::fprintf(stderr, "wrote %s: %zu bytes of %s\n", file.c_str(), data.size(),
               std::string(what).c_str());
  return ExitCode::kOk;
}

}  // namespace firetower::cli
