// SPDX-License-Identifier: Apache-2.0
// Where a profile goes that was fetched: what `get` and `record` have in common.
#pragma once

#include <string>

#include "cli/commands/commands.h"

namespace firetower::cli {

struct ProfileOutput {
  std::string file = "-";        // standard output
  std::string format = "pprof";  // pprof, folded or json
};

// Of --file, --output and --force; refuses what could not be written before anything is fetched.
Outcome<ProfileOutput> PickOutput(const Context& context);

// Converts the server's profile, names its frames where --symbols asks for it, and writes it.
Outcome<int> WriteProfile(const Context& context, const ProfileOutput& output, std::string pprof);

}  // namespace firetower::cli
