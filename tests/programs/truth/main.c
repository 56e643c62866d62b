// SPDX-License-Identifier: Apache-2.0
// truth [SECONDS]: states the stacks of the shape it was built for (-DSHAPE=kChain
// -DBUILD='"name"') and has them.
#include <stdlib.h>
#include <time.h>

#include "tests/programs/truth/truth.h"

// Two builds that are the same but for what is done to the file afterwards are two programs.
__attribute__((used)) static const char kBuild[] = BUILD;

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  SHAPE.state();
  STATE("*");
  fflush(stdout);
  const double end = Now() + (argc > 1 ? atof(argv[1]) : 3600);
  while (Now() < end) SHAPE.run();
  return 0;
}
