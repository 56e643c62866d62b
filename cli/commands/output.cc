// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/output.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "base/file.h"
#include "cli/commands/common.h"
#include "cli/commands/naming.h"
#include "profile/export.h"
#include "profile/pprof.h"

namespace firetower::cli {
namespace {

struct Extension {
  std::string_view suffix;
  std::string_view format;
};
constexpr Extension kExtensions[] = {
    {".pb.gz", "pprof"},      {".pprof", "pprof"}, {".pb", "pprof"},  {".folded", "folded"},
    {".collapsed", "folded"}, {".txt", "folded"},  {".json", "json"},
};

// Empty when the extension says nothing.
std::string FormatOf(const std::string& file) {
  for (const Extension& extension : kExtensions) {
    if (file.ends_with(extension.suffix)) return std::string(extension.format);
  }
  return "";
}

Outcome<std::string> PickFormat(const Context& context, const std::string& file) {
  std::string format = context.args.Get("output");
  if (!format.empty()) return format;
  if (file == "-") return std::string("pprof");
  format = FormatOf(file);
  if (!format.empty()) return format;
  return BadFlag(context,
                 Error(ErrorCode::kInvalid,
                       fmt::format("the name '{}' does not say a format: give -o pprof, folded or "
                                   "json, or end it in .pb.gz, .folded or .json",
                                   file)));
}

// Refuses before anything is fetched.
Outcome<int> CheckTarget(const Context& context, const std::string& file,
                         const std::string& format) {
  if (file == "-") {
    if (format != "pprof" || !context.terminal.is_tty) return ExitCode::kOk;
    return BadFlag(context,
                   Error(ErrorCode::kInvalid,
                         "a pprof file is binary and this is a terminal: give -f FILE.pb.gz, "
                         "or -o folded to read it here"));
  }
  if (context.args.Has("force") || ::access(file.c_str(), F_OK) != 0) return ExitCode::kOk;
  return Failure{ExitCode::kFailure, fmt::format("{} is not overwritten", file), "it exists",
                 "give --force, or another name with -f"};
}

Outcome<std::string> Convert(const Context& context, std::string pprof, const std::string& format) {
  const bool names = context.args.Has("symbols");
  if (format == "pprof" && !names) return pprof;
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
  if (format == "pprof") return profile::EncodePprof(*profile);
  if (format == "json") return profile::ToJson(*profile);
  return profile::ToFolded(*profile, profile->DefaultValueIndex());
}

}  // namespace

Outcome<ProfileOutput> PickOutput(const Context& context) {
  ProfileOutput output;
  if (context.args.Has("file")) output.file = context.args.Get("file");
  Outcome<std::string> format = PickFormat(context, output.file);
  if (!format) return format.failure();
  output.format = *format;
  Outcome<int> target = CheckTarget(context, output.file, output.format);
  if (!target) return target.failure();
  return output;
}

Outcome<int> WriteProfile(const Context& context, const ProfileOutput& output, std::string pprof) {
  Outcome<std::string> data = Convert(context, std::move(pprof), output.format);
  if (!data) return data.failure();
  if (output.file == "-") return Emit(*data, ExitCode::kOk);
  Status written = WriteFileAtomic(output.file, *data);
  if (!written) {
    return Failure{ExitCode::kFailure, fmt::format("cannot write {}", output.file),
                   written.error().message(), "choose another place with -f"};
  }
  std::fprintf(stderr, "wrote %s: %zu bytes of %s\n", output.file.c_str(), data->size(),
               output.format.c_str());
  return ExitCode::kOk;
}

}  // namespace firetower::cli
