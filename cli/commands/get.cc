// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/output.h"

namespace firetower::cli {

Outcome<int> RunGet(const Context& context) {
  Outcome<ProfileOutput> output = PickOutput(context);
  if (!output) return output.failure();
  Outcome<query::NamedValues> params = SelectionParams(context, "15m");
  if (!params) return params.failure();
  Outcome<HttpReply> reply = context.client.Get("/api/v1/profile", *params);
  if (!reply) return reply.failure();
  WarnSkipped(context, reply->skipped);
  return WriteProfile(context, *output, std::move(reply->body));
}

}  // namespace firetower::cli
