// SPDX-License-Identifier: Apache-2.0
// Where a profile goes, and in which format: what the commands that write one have in common.
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

// Of the file's name and of the flag `format_flag`, which goes before. Refuses what could not be
// written before anything is done: a format that is only read, a file that exists (without
// --force), pprof to a terminal.
Outcome<ProfileOutput> PickOutput(const LocalContext& context, const std::string& file,
                                  std::string_view format_flag);
// Of --file, --output and --force.
Outcome<ProfileOutput> PickOutput(const LocalContext& context);

// Converts the server's profile, names its frames where --symbols asks for it, and writes it.
Outcome<int> WriteProfile(const LocalContext& context, const ProfileOutput& output,
                          std::string pprof);

// With the value that --sample-type names, where the format holds one; tells which it is else.
Outcome<int> WriteProfile(const LocalContext& context, const ProfileOutput& output,
                          const profile::Profile& profile);

Outcome<int> WriteProfile(const ProfileOutput& output, const profile::Profile& profile,
                          const profile::EncodeOptions& options = {});

// Writes `data` whole or not at all, but into what is no regular file, as a FIFO, as it comes;
// `what` is how the line on standard error calls it.
Outcome<int> WriteData(const std::string& file, std::string_view data, std::string_view what);

// Why `file` is not written: it is there without --force, or a folder. FIFOs and devices lose
// nothing.
std::optional<Failure> RefuseToWrite(const LocalContext& context, const std::string& file);

}  // namespace firetower::cli
