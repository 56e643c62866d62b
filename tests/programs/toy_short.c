// SPDX-License-Identifier: Apache-2.0
// toy_short [MICROSECONDS]: a process that lives a few milliseconds, in short_work.
#include "tests/programs/toy.h"

static volatile long calls;

TOY_FRAME void short_work(void) {
  SPIN(20000);
  calls = calls + 1;
}

int main(int argc, char **argv, char **environment) {
  (void)environment;
  const long end = ClockNs(kToyThreadCpu) + Argument(argc, argv, 1, 5000) * 1000;
  while (ClockNs(kToyThreadCpu) < end) short_work();
  return 0;
}
