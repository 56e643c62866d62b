// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "profile/profile.h"

namespace firetower::cli {

// A profile with the names that --symbols asks for, from this machine's files and those servers
// that --debuginfod names. What is not found stays as it is, and is told on standard error.
Outcome<profile::Profile> NameHere(const LocalContext& context, const profile::Profile& profile);

}  // namespace firetower::cli
