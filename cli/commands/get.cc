// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/output.h"

namespace firetower::cli {

namespace {

// Returns the parameters for one stored profile, or for the sum of a selection.
Outcome<net::NamedValues> AskedFor(const Context& context) {
  if (!context.args.Has("id")) return SelectionParams(context, "15m");
  for (const char* flag : {"type", "since", "from", "to", "container"}) {
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

}  // namespace

Outcome<int> RunGet(const Context& context) {
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
