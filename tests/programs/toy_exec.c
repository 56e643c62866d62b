// SPDX-License-Identifier: Apache-2.0
// toy_exec SECONDS PROGRAM [ARGUMENT…]: burns CPU in before_exec, then becomes PROGRAM under the
// same pid.
#include "tests/programs/toy.h"

static volatile long calls;

TOY_FRAME void before_exec(void) {
  SPIN(4000000);
  calls = calls + 1;
}

int main(int argc, char **argv, char **environment) {
  if (argc < 3) return 2;
  const long end = ClockNs(kToyMonotonic) + Number(argv[1]) * 1000000000;
  while (ClockNs(kToyMonotonic) < end) before_exec();
  SYS3(SYS_execve, argv[2], argv + 2, environment);
  return 1;
}
