// SPDX-License-Identifier: Apache-2.0
// Chooses the destination and format of a profile. Shared by all commands that write one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "profile/format.h"

namespace firetower::cli {

struct ProfileOutput {
  std::string file = "-";  // standard output
  profile::Format format = profile::Format::kPprof;
};

// Chooses the format by the flag `format_flag`, else by the file's name. Refuses early what cannot
// be written: a format that can only be read, a file that exists (without --force), pprof to a
// terminal.
Outcome<ProfileOutput> PickOutput(const LocalContext& context, const std::string& file,
                                  std::string_view format_flag);
// Chooses by --file, --output and --force.
Outcome<ProfileOutput> PickOutput(const LocalContext& context);

// Converts the server's profile, names its frames if --symbols says so, and writes it.
Outcome<int> WriteProfile(const LocalContext& context, const ProfileOutput& output,
                          std::string pprof);

// Writes a profile. A format with one value per stack gets the value of --sample-type; without that
// flag a message names the chosen value.
Outcome<int> WriteProfile(const LocalContext& context, const ProfileOutput& output,
                          const profile::Profile& profile);

Outcome<int> WriteProfile(const ProfileOutput& output, const profile::Profile& profile,
                          const profile::EncodeOptions& options = {});

// Writes `data` completely or not at all. A destination that is not a regular file, such as a FIFO,
// is written directly. `what` names the data in the message on standard error.
Outcome<int> WriteData(const std::string& file, std::string_view data, std::string_view what);

// Returns the reason why `file` is not written: it exists and --force is missing, or it is a
// folder. FIFOs and devices lose nothing.
std::optional<Failure> RefuseToWrite(const LocalContext& context, const std::string& file);

}  // namespace firetower::cli
