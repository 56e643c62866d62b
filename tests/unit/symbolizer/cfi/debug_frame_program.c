// SPDX-License-Identifier: Apache-2.0
// Built with -fno-asynchronous-unwind-tables, so that its own functions are described by
// .debug_frame and those of the start-up files by .eh_frame, and with a PLT for branch tracking.
#include <alloca.h>
#include <string.h>

static char wide[64];

__attribute__((noinline)) static int realigned(int length) {
  char buffer[64] __attribute__((aligned(64)));
  memset(buffer, length, sizeof(buffer));
  memcpy(wide, buffer, sizeof(wide));
  return wide[length & 63];
}

__attribute__((noinline)) static int grows(int length) {
  char *bytes = alloca((size_t)length + 1);
  memset(bytes, 1, (size_t)length + 1);
  return bytes[length] + realigned(length);
}

int main(int argc, char **argv) { return argv[0] == 0 ? 0 : grows(argc); }
