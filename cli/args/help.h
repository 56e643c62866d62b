// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/args/spec.h"

namespace firetower::cli {

// Returns the name that the user types: "firetower", or "kubectl firetower" when installed as a
// plugin.
std::string ProgramName(std::string_view argv0);

// Returns the overview, or the page of one command.
std::string HelpText(std::string_view program);
std::string HelpText(std::string_view program, const CommandSpec& command);
// Returns all pages as one Markdown page.
std::string HelpMarkdown();

// Returns a completion script. `shell` is "bash" or "zsh".
std::string CompletionScript(std::string_view shell);

}  // namespace firetower::cli
