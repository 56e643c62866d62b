// SPDX-License-Identifier: Apache-2.0
// toy_storm SECONDS PARALLEL PAUSE_US PROGRAM [ARGUMENT…]: starts PROGRAM again and again, PARALLEL
// at a time, and prints how many it started.
#include "tests/programs/toy.h"

int main(int argc, char **argv, char **environment) {
  if (argc < 5) return 2;
  const long end = ClockNs(kToyMonotonic) + Number(argv[1]) * 1000000000;
  const long parallel = Number(argv[2]);
  const long pause_us = Number(argv[3]);
  unsigned long started = 0;
  long running = 0;
  while (ClockNs(kToyMonotonic) < end) {
    const long child = SYS0(SYS_fork);
    if (child == 0) {
      SYS3(SYS_execve, argv[4], argv + 4, environment);
      SYS1(SYS_exit_group, 127);
    }
    if (child > 0) {
      ++started;
      ++running;
    }
    for (; running >= parallel; --running) SYS4(SYS_wait4, -1, 0, 0, 0);
    if (pause_us > 0) SleepUs(pause_us);
  }
  while (SYS4(SYS_wait4, -1, 0, 0, 0) > 0) {
  }
  PrintNumber(1, started);
  Print(1, "\n");
  return 0;
}
