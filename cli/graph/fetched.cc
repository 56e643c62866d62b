// SPDX-License-Identifier: Apache-2.0
#include "cli/graph/fetched.h"

#include <utility>

#include "cli/commands/common.h"
#include "cli/commands/naming.h"
#include "profile/pprof.h"

namespace firetower::cli {

Outcome<profile::Profile> FetchProfile(const Context& context) {
  Outcome<net::NamedValues> params = SelectionParams(context, "15m");
  if (!params) return params.failure();
  return FetchProfile(context, *params);
}

Outcome<profile::Profile> FetchProfile(const Context& context, const net::NamedValues& params) {
  Outcome<HttpReply> reply = context.client.Get("/api/v1/profile", params);
  if (!reply) return reply.failure();
  WarnSkipped(context, reply->skipped);
  WarnCoarse(context, reply->max_hidden, "stacks");
  Result<profile::Profile> profile = profile::DecodePprof(reply->body);
  if (!profile) {
    return Failure{ExitCode::kFailure, "the server's profile cannot be read",
                   profile.error().message(), "fetch it with 'get' to look at it"};
  }
  if (context.args.Has("symbols")) return NameHere(context, *profile);
  return *std::move(profile);
}

}  // namespace firetower::cli
