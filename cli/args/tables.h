// SPDX-License-Identifier: Apache-2.0
// The parts of Commands(), each in a file of its own.
#pragma once

#include <span>

#include "cli/args/spec.h"

namespace firetower::cli {

// Commands that ask the API of a server or a hub.
std::span<const CommandSpec> QuestionCommands();
// Commands that also ask an API server.
std::span<const CommandSpec> ClusterCommands();
// Commands that read files of this machine.
std::span<const CommandSpec> FileCommands();

}  // namespace firetower::cli
