// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/commands/commands.h"
#include "cli/files/compared_side.h"

namespace firetower::cli {

// Tells whether a side of a comparison is a selector and not a file of this machine: it begins with
// a brace, or is KIND/NAME and no such file exists. With times behind an '@' the kind may be
// misspelt.
bool IsAsked(const std::string& side);

// Fetches `{container="web"}@FROM..TO`, `deploy/web@before-rollout`, which is the hour before the
// last roll-out within a day, with the pods of then, `@after-rollout` with the new ones, or
// `deploy/web@FROM..TO` from the server. The times have the API's form; each may be omitted, and so
// may everything from the '@' on.
Outcome<ComparedSide> AskSide(const Context& context, const std::string& side);

}  // namespace firetower::cli
