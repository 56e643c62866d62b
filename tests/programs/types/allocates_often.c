// SPDX-License-Identifier: Apache-2.0
// allocates_often SECONDS: allocates and frees some two million times a second. Says every tenth of
// a second how often it has, and the CPU time that this took: "MONOTONIC_SECONDS CPU_SECONDS
// CALLS".
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  static void* volatile kept;
  if (argc != 2) return 2;
  double told = now(CLOCK_MONOTONIC);
  const double end = told + atof(argv[1]);
  for (unsigned long calls = 0; told < end;) {
    for (int i = 0; i < 1000; i++, calls++) {
      kept = malloc(64);
      if (!kept) return 1;
      free(kept);
      for (volatile int work = 0; work < 200; work++) continue;
    }
    const double time = now(CLOCK_MONOTONIC);
    if (time - told < 0.1) continue;
    told = time;
    printf("%.3f %.6f %lu\n", told, now(CLOCK_PROCESS_CPUTIME_ID), calls);
  }
  return 0;
}
