// SPDX-License-Identifier: Apache-2.0
// toy_perfmap [SECONDS]: writes a function into anonymous memory, names it toy_jit_loop in
// /tmp/perf-PID.map by the pid of its own namespace, and spins in it under main → call_jit.
#include "tests/programs/toy.h"

static volatile long calls;

// push rbp; mov rbp,rsp; mov eax,4000000; L: dec eax; jne L; pop rbp; ret
static const unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 0x00, 0x09, 0x3d,
                                      0x00, 0xff, 0xc8, 0x75, 0xfc, 0x5d, 0xc3};

TOY_FRAME void call_jit(const unsigned char *code) {
  void (*function)(void);
  *(const void **)&function = code;
  function();
  calls = calls + 1;
}

static int WriteMap(unsigned long start) {
  char path[64] = "/tmp/perf-";
  char number[24];
  size_t at = 10;
  for (char *digit = Format(number, (unsigned long)SYS0(SYS_getpid), 10); *digit; ++digit) {
    path[at++] = *digit;
  }
  for (const char *tail = ".map"; *tail; ++tail) path[at++] = *tail;
  path[at] = 0;
  const int fd = (int)SYS3(SYS_open, path, kToyCreate, 0644);
  if (fd < 0) return 1;
  Print(fd, Format(number, start, 16));
  Print(fd, " ");
  Print(fd, Format(number, sizeof(kCode), 16));
  Print(fd, " toy_jit_loop\n");
  SYS1(SYS_close, fd);
  return 0;
}

int main(int argc, char **argv, char **environment) {
  (void)environment;
  // Readable, writable, executable; private, anonymous.
  unsigned char *page = (unsigned char *)Syscall(SYS_mmap, 0, 4096, 7, 0x22, -1, 0);
  if ((long)page < 0 && (long)page > -4096) return 1;
  for (size_t i = 0; i < sizeof(kCode); ++i) page[i] = kCode[i];
  if (WriteMap((unsigned long)page) != 0) return 1;
  const long end = ClockNs(kToyMonotonic) + Argument(argc, argv, 1, 3600) * 1000000000;
  while (ClockNs(kToyMonotonic) < end) call_jit(page);
  return 0;
}
