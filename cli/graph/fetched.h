// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands/commands.h"
#include "profile/profile.h"

namespace firetower::cli {

// Fetches the profile of these parameters of the API, and names its frames if --symbols says so.
Outcome<profile::Profile> FetchProfile(const Context& context, const net::NamedValues& params);

// Fetches the merged profile of the command's selection, and names its frames if --symbols says so.
Outcome<profile::Profile> FetchProfile(const Context& context);

}  // namespace firetower::cli
