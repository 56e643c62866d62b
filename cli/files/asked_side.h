// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "profile/profile.h"

namespace firetower::cli {

// Whether a side of a comparison is none of this machine's files: it begins with a brace.
bool IsAsked(std::string_view side);

// What the server has of `{container="web"}@FROM..TO`, in the times of the API; either may be
// left out, and the whole of it from the '@' on.
Outcome<profile::Profile> AskSide(const Context& context, const std::string& side);

}  // namespace firetower::cli
