// SPDX-License-Identifier: Apache-2.0
// Drawing a profile: what `flame`, `view` and `convert` have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "profile/flame/flame.h"
#include "profile/profile.h"

namespace firetower::cli {

// Of --value, --names, --sort, --max-nodes, --orientation and --title, which is else `title`.
Outcome<profile::FlameOptions> FlameLook(const LocalContext& context, std::string_view title);

// What a file is drawn as, by its name: "html", "svg", or "" for neither.
std::string_view DrawingOfFile(std::string_view file);

// `format` is html, svg or json, which is the answer of /api/v1/flame.
Outcome<std::string> DrawFlame(const profile::Profile& profile,
                               const profile::FlameOptions& options, std::string_view format);

}  // namespace firetower::cli
