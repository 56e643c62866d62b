// SPDX-License-Identifier: Apache-2.0
// Reads the profiles that the user names on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "profile/format.h"

namespace firetower::cli {

// Returns the name to show: "standard input" for "-".
std::string InputName(const std::string& file);

// Reads a file's bytes, or standard input for "-". At most 1 GiB.
Outcome<std::string> ReadInput(const std::string& file);

// Reads --input-format, --entry and --untimed, for the commands that have them.
profile::DecodeOptions InputOptions(const LocalContext& context);

// Tells on standard error what `file` has and its profile has not: a line for each note.
void WarnOfLosses(const LocalContext& context, const std::string& file,
                  const std::vector<std::string>& notes);

// Prints on standard error the data of `profile` that a file of `format` cannot hold. `format` is
// the name of a format, svg or html. Prints nothing for pprof.
void TellExportLosses(const LocalContext& context, const profile::Profile& profile,
                      std::string_view format);

// Leaves out of what is shown the frames that drop_frames of the file names, as pprof does, and
// tells of it on standard error.
void DropFrames(const LocalContext& context, const std::string& file, profile::Profile* profile);

// Makes the Failure for a file that was read and is not valid.
Failure BadInput(const std::string& file, const Error& error);

Outcome<profile::Profile> ReadProfileFile(const LocalContext& context, const std::string& file);

}  // namespace firetower::cli
