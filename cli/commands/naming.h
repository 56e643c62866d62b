// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "profile/profile.h"

namespace firetower::cli {

// Names a profile's frames if --symbols says so, from this machine's files and the servers of
// --debuginfod. Frames that are not found stay unchanged and are reported on standard error.
Outcome<profile::Profile> NameHere(const LocalContext& context, const profile::Profile& profile);

}  // namespace firetower::cli
