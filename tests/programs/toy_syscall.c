// SPDX-License-Identifier: Apache-2.0
// toy_syscall [SECONDS]: lives in two system calls, each made from a frame of its own:
// hot_read reads /dev/zero in pieces of 64 KiB, hot_getppid does nothing at all very often.
#include "tests/programs/toy.h"

static char buffer[64 * 1024];
static volatile long calls;

TOY_FRAME void hot_read(int fd) {
  for (int i = 0; i < 2000; ++i) SYS3(SYS_read, fd, buffer, sizeof(buffer));
  calls = calls + 1;
}
TOY_FRAME void hot_getppid(void) {
  for (int i = 0; i < 20000; ++i) SYS0(SYS_getppid);
  calls = calls + 1;
}

int main(int argc, char **argv, char **environment) {
  (void)environment;
  const long end = ClockNs(kToyMonotonic) + Argument(argc, argv, 1, 3600) * 1000000000;
  const int fd = (int)SYS2(SYS_open, "/dev/zero", kToyReadOnly);
  if (fd < 0) return 1;
  while (ClockNs(kToyMonotonic) < end) {
    hot_read(fd);
    hot_getppid();
  }
  return 0;
}
