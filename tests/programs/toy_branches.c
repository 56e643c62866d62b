// SPDX-License-Identifier: Apache-2.0
// toy_branches [SECONDS [FRAMES]]: burns SECONDS of CPU under FRAMES frames, which are another of
// eight functions at each call and each time: almost no two samples have one stack.
#include "tests/programs/toy.h"

static unsigned state = 1;

static unsigned Next(void) {
  state = state * 1103515245u + 12345u;
  return state >> 16;
}

TOY_FRAME void leaf(void) { SPIN(20000); }

#define DECLARE(n) TOY_FRAME void way_##n(long depth)
DECLARE(0);
DECLARE(1);
DECLARE(2);
DECLARE(3);
DECLARE(4);
DECLARE(5);
DECLARE(6);
DECLARE(7);
static void (*const ways[8])(long) = {way_0, way_1, way_2, way_3, way_4, way_5, way_6, way_7};

#define DEFINE(n)                      \
  TOY_FRAME void way_##n(long depth) { \
    if (depth == 0) {                  \
      leaf();                          \
    } else {                           \
      ways[Next() & 7](depth - 1);     \
    }                                  \
    __asm__ volatile("" ::: "memory"); \
  }
DEFINE(0)
DEFINE(1)
DEFINE(2)
DEFINE(3)
DEFINE(4)
DEFINE(5)
DEFINE(6)
DEFINE(7)

int main(int argc, char **argv, char **environment) {
  (void)environment;
  const unsigned long end = (unsigned long)ClockNs(kToyThreadCpu) +
                            (unsigned long)Argument(argc, argv, 1, 3600) * 1000000000ul;
  const long frames = Argument(argc, argv, 2, 600);
  while ((unsigned long)ClockNs(kToyThreadCpu) < end) way_0(frames);
  return 0;
}
