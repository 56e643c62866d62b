// SPDX-License-Identifier: Apache-2.0
// exec_storm PROGRAM [ARGUMENT…]: for every number of eight bytes on its input starts PROGRAM that
// many times, one after the other, and answers with the CPU time that took, itself and all
// children, in ns; with -1 if one did not run.
#include <linux/resource.h>

#include "tests/programs/toy.h"

static long CpuNs(int who) {
  struct rusage used;
  SYS2(SYS_getrusage, who, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
         (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

int main(int argc, char **argv, char **environment) {
  if (argc < 2) return 2;
  long wanted = 0;
  while (SYS3(SYS_read, 0, &wanted, sizeof(wanted)) == sizeof(wanted)) {
    long used_ns = -(CpuNs(RUSAGE_SELF) + CpuNs(RUSAGE_CHILDREN));
    int failed = 0;
    for (long i = 0; i < wanted; ++i) {
      int status = -1;
      if (SYS0(SYS_fork) == 0) {
        SYS3(SYS_execve, argv[1], argv + 1, environment);
        SYS1(SYS_exit_group, 127);
      }
      SYS4(SYS_wait4, -1, &status, 0, 0);
      failed |= status;
    }
    used_ns += CpuNs(RUSAGE_SELF) + CpuNs(RUSAGE_CHILDREN);
    if (failed != 0) used_ns = -1;
    SYS3(SYS_write, 1, &used_ns, sizeof(used_ns));
  }
  return 0;
}
