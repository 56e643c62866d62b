// SPDX-License-Identifier: Apache-2.0
// steady_shop PARSE ENCODE: serves requests for ever, a pause between two; each takes so many units
// of work in either function.
#include <stdlib.h>
#include <time.h>

static volatile unsigned kept;

__attribute__((noinline)) static void spend(long units) {
  for (long i = 0; i < units * 100000; i++) kept = kept * 31 + 7;
}

__attribute__((noinline)) static void parse(long units) {
  for (long i = 0; i < units * 100000; i++) kept = kept * 31 + 7;
}

__attribute__((noinline)) static void encode(long units) { spend(units); }

int main(int argc, char** argv) {
  const struct timespec wait = {0, 10000000};
  if (argc < 3) return 2;
  for (;;) {
    parse(atol(argv[1]));
    encode(atol(argv[2]));
    nanosleep(&wait, NULL);
  }
}
