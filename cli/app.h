// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace firetower::cli {

// Runs the whole program: reads the command line, runs the command and reports failures. Returns
// the exit code of cli/args/spec.h.
int RunCli(const std::string& argv0, const std::vector<std::string>& arguments);

}  // namespace firetower::cli
