// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/app.h"

int main(int argc, char** argv) {
  try {
    std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return firetower::cli::RunCli(argc > 0 ? argv[0] : "firetower", arguments);
  } catch (const std::exception& e) {
    // Out of memory, in effect: everything that throws is caught where it is called.
    std::fprintf(stderr, "firetower: %s\n", e.what());
    return 1;
  }
}
