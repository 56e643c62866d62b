// SPDX-License-Identifier: Apache-2.0
// toy_deleted COPY delete|replace [SECONDS]: copies itself to COPY, goes on as that copy, and then
// deletes it or puts another file in its place, before it burns CPU in deleted_work.
#include "tests/programs/toy.h"

static char buffer[64 * 1024];
static volatile long calls;

TOY_FRAME void deleted_work(void) {
  SPIN(4000000);
  calls = calls + 1;
}

static int CopySelf(const char *path) {
  const int from = (int)SYS2(SYS_open, "/proc/self/exe", kToyReadOnly);
  const int to = (int)SYS3(SYS_open, path, kToyCreate, 0755);
  if (from < 0 || to < 0) return 1;
  for (long got; (got = SYS3(SYS_read, from, buffer, sizeof(buffer))) > 0;) {
    if (SYS3(SYS_write, to, buffer, got) != got) return 1;
  }
  SYS1(SYS_close, from);
  SYS1(SYS_close, to);
  return 0;
}

int main(int argc, char **argv, char **environment) {
  if (argc < 3) return 2;
  const int is_copy = argv[2][0] == '@';
  if (!is_copy) {
    char mark[3] = {'@', argv[2][0], 0};
    char *next[] = {argv[0], argv[1], mark, argc > 3 ? argv[3] : 0, 0};
    if (CopySelf(argv[1]) == 0) SYS3(SYS_execve, argv[1], next, environment);
    return 1;
  }
  SYS1(SYS_unlink, argv[1]);
  if (argv[2][1] == 'r') {
    const int fd = (int)SYS3(SYS_open, argv[1], kToyCreate, 0755);
    Print(fd, "another file of the same name\n");
    SYS1(SYS_close, fd);
  }
  const long end = ClockNs(kToyMonotonic) + Argument(argc, argv, 3, 3600) * 1000000000;
  while (ClockNs(kToyMonotonic) < end) deleted_work();
  return 0;
}
