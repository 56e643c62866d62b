// SPDX-License-Identifier: Apache-2.0
// Draws a profile. Shared by `flame`, `view` and `convert`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "profile/flame/flame.h"
#include "profile/profile.h"

namespace firetower::cli {

// Reads --value, --names, --sort, --max-nodes, --orientation and --title, whose default is `title`.
Outcome<profile::FlameOptions> FlameLook(const LocalContext& context, std::string_view title);

// Returns the kind of drawing for a file name: "html", "svg", or "" for neither.
std::string_view DrawingOfFile(std::string_view file);

// Draws a profile. `format` is html, svg or json; json has the form of the API's /api/v1/flame.
Outcome<std::string> DrawFlame(const profile::Profile& profile,
                               const profile::FlameOptions& options, std::string_view format);

}  // namespace firetower::cli
