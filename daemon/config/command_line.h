// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "daemon/config/config.h"

namespace firetower::daemon {

// Action that the command line asks for; kRun alone needs the Config.
enum class CommandAction { kRun, kHelp, kHelpMarkdown, kVersion };

struct CommandLine {
  CommandAction action = CommandAction::kRun;
  Config config;
};

// Reads flags ("--name value", "--name=value"; a switch stands alone or takes "=true", "=false";
// none is given twice), then the configuration file they name. A flag wins over the file, the file
// over the default. `arguments` is argv without the program's name. An error says
// what is wrong, why, and what is allowed; it is meant for the person who started the program.
// `node_name`: the variable NODE_NAME, which a pod gets from its Node.
Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments,
                                     const std::string& node_name = "");

// The text of --help and the page docs/reference/configuration.md, both from the table.
std::string HelpText();
std::string ConfigurationMarkdown();

}  // namespace firetower::daemon
