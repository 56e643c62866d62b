// SPDX-License-Identifier: Apache-2.0
// flame_server: serves the content of tests/unit/query/fixture.h, prints its address, and ends with
// its standard input.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "tests/unit/query/fixture.h"

int main() {
  firetower::query::Fixture fixture;
  fmt::print("{}\n", fixture.Serve());
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
