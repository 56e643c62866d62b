// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/commands/commands.h"
#include "cli/files/compared_side.h"

namespace firetower::cli {

// Whether a side of a comparison is none of this machine's files: it begins with a brace, or is
// KIND/NAME where no file is called so. With times behind an '@' the kind may be misspelt.
bool IsAsked(const std::string& side);

// What the server has of `{container="web"}@FROM..TO` or `deploy/web@FROM..TO`, in the times of the
// API; either may be left out, and the whole of it from the '@' on.
Outcome<ComparedSide> AskSide(const Context& context, const std::string& side);

}  // namespace firetower::cli
