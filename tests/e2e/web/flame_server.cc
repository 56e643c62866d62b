// SPDX-License-Identifier: Apache-2.0
// flame_server [TOKEN POWERLESS]: serves the content of tests/unit/query/fixture.h, prints its
// address, and ends with its standard input. TOKEN is the one that may read it, if given; POWERLESS
// is known, and may read nothing.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "tests/unit/query/fixture.h"

int main(int argc, char** argv) {
  firetower::query::Fixture fixture;
  if (argc == 3) {
    fixture.Change([&](firetower::query::Fixture::Answers& answers) {
      answers.token = argv[1];
      answers.powerless = argv[2];
    });
  }
  fmt::print("{}\n", fixture.Serve());
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
