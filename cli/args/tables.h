// SPDX-License-Identifier: Apache-2.0
// The parts of Commands(), each in a file of its own.
#pragma once

#include <span>

#include "cli/args/spec.h"

namespace firetower::cli {

// To the API of a server or a hub.
std::span<const CommandSpec> QuestionCommands();
// To an API server too.
std::span<const CommandSpec> ClusterCommands();
// On files of this machine.
std::span<const CommandSpec> FileCommands();

}  // namespace firetower::cli
