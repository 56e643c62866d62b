// SPDX-License-Identifier: Apache-2.0
// toy_stack [SECONDS]: burns CPU under main → alpha → beta → gamma. Prints its pid.
#include "tests/programs/toy.h"

static volatile long calls;

TOY_FRAME void gamma(void) {
  SPIN(4000000);
  calls = calls + 1;
}
TOY_FRAME void beta(void) {
  gamma();
  calls = calls + 1;
}
TOY_FRAME void alpha(void) {
  beta();
  calls = calls + 1;
}

int main(int argc, char **argv, char **environment) {
  (void)environment;
  PrintNumber(1, (unsigned long)SYS0(SYS_getpid));
  Print(1, "\n");
  const long end = ClockNs(kToyMonotonic) + Argument(argc, argv, 1, 3600) * 1000000000;
  while (ClockNs(kToyMonotonic) < end) alpha();
  return 0;
}
