// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/file.h"
#include "cli/commands/commands.h"
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

Outcome<int> RunGet(const Context& context) {
  const Args& args = context.args;
  std::string file = args.Has("file") ? args.Get("file") : "-";
  Outcome<std::string> format = PickFormat(context, file);
  if (!format) return format.failure();
  Outcome<int> target = CheckTarget(context, file, *format);
  if (!target) return target.failure();
  Outcome<query::NamedValues> params = SelectionParams(context, "15m");
  if (!params) return params.failure();
  if (!args.positionals.empty()) params->emplace_back("q", args.positionals[0]);

  Outcome<HttpReply> reply = context.client.Get("/api/v1/profile", *params);
  if (!reply) return reply.failure();
  WarnSkipped(context, reply->skipped);
  Outcome<std::string> data = Convert(context, std::move(reply->body), *format);
  if (!data) return data.failure();
  if (file == "-") return Emit(*data, ExitCode::kOk);
  Status written = WriteFileAtomic(file, *data);
  if (!written) {
    return Failure{ExitCode::kFailure, fmt::format("cannot write {}", file),
                   written.error().message(), "choose another place with -f"};
  }
  std::fprintf(stderr, "wrote %s: %zu bytes of %s\n", file.c_str(), data->size(), format->c_str());
  return ExitCode::kOk;
}

}  // namespace firetower::cli
