// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/args/spec.h"

namespace firetower::cli {

// What a person types: "firetower", or "kubectl firetower" when installed as a plugin.
std::string ProgramName(std::string_view argv0);

// The overview, and the page of one command.
std::string HelpText(std::string_view program);
std::string HelpText(std::string_view program, const CommandSpec& command);
// Everything as one Markdown page.
std::string HelpMarkdown();

// A completion script; `shell` is "bash" or "zsh".
std::string CompletionScript(std::string_view shell);

}  // namespace firetower::cli
