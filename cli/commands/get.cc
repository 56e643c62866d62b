// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/output.h"
#include "cli/graph/fetched.h"
#include "profile/pprof.h"
#include "profile/select/pgo.h"

namespace firetower::cli {

namespace {

// Returns the parameters for one stored profile, or for the sum of a selection.
Outcome<net::NamedValues> AskedFor(const Context& context) {
  if (!context.args.Has("id")) return SelectionParams(context, "15m");
  for (const char* flag : {"type", "since", "from", "to", "container", "exact", "offsets", "focus",
                           "ignore", "hide", "show", "show-from", "tagfocus", "tagignore"}) {
    if (!context.args.Has(flag)) continue;
    return BadFlag(
        context, Error(ErrorCode::kInvalid,
                       fmt::format("--id selects one profile: --{} has no effect with it", flag)));
  }
  if (!context.args.selector.empty()) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  "--id selects one profile: a selector has no effect with it"));
  }
  return net::NamedValues{{"id", context.args.Get("id")}};
}

// Writes one Go binary's profile, for its compiler.
Outcome<int> GetPgo(const Context& context) {
  const std::string file = context.args.Has("file") ? context.args.Get("file") : "-";
  if (std::optional<Failure> refused =
          RefuseFlags(context, {"sample-type"}, "picks one value: pgo has all of them"))
    return *std::move(refused);
  if (file == "-" && context.terminal.is_tty) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  "a profile for the compiler is binary and this is a terminal: "
                                  "give -f default.pgo"));
  }
  if (std::optional<Failure> refused = RefuseToWrite(context, file)) return *std::move(refused);
  Outcome<net::NamedValues> params = AskedFor(context);
  if (!params) return params.failure();
  Outcome<profile::Profile> profile = FetchProfile(context, *params);
  if (!profile) return profile.failure();
  const Result<profile::GoPgo> pgo = profile::ForGoPgo(*profile, context.args.Get("binary"));
  if (!pgo) {
    return Failure{ExitCode::kFailure, "no profile for the Go compiler", pgo.error().message(),
                   "see docs/pgo.md"};
  }
  std::fprintf(stderr, "%s: %lld samples of %s\n", context.program.c_str(),
               static_cast<long long>(pgo->samples), pgo->binary.c_str());
  return WriteData(file, profile::EncodePprof(pgo->profile), "pgo");
}

}  // namespace

Outcome<int> RunGet(const Context& context) {
  if (context.args.Get("output") == "pgo" ||
      (!context.args.Has("output") && context.args.Get("file").ends_with(".pgo"))) {
    return GetPgo(context);
  }
  if (std::optional<Failure> refused = RefuseFlags(context, {"binary"}, "is for -o pgo"))
    return *std::move(refused);
  Outcome<ProfileOutput> output = PickOutput(context);
  if (!output) return output.failure();
  Outcome<net::NamedValues> params = AskedFor(context);
  if (!params) return params.failure();
  Outcome<HttpReply> reply = context.client.Get("/api/v1/profile", *params);
  if (!reply) return reply.failure();
  WarnSkipped(context, reply->skipped);
  WarnCoarse(context, reply->max_hidden, "stacks");
  return WriteProfile(context, *output, std::move(reply->body));
}

}  // namespace firetower::cli
