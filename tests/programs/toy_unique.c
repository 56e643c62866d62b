// SPDX-License-Identifier: Apache-2.0
// toy_unique INDEX [SECONDS [SPIN_US SLEEP_US]]: burns CPU in only_in_INDEX and nowhere else, so
// the name of a sample's function says which container it came from. INDEX is 0 to 511; the name
// has it in three octal digits. With 0 SECONDS it spins once.
#include "tests/programs/toy.h"

static volatile long calls;

// A round is sized so that a call stays well below a sampling period.
#define ONE(n)                       \
  TOY_FRAME void only_in_##n(void) { \
    SPIN(200000);                    \
    calls = calls + 0##n;            \
  }
#define NAME(n) only_in_##n,
#define EIGHT(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define ONES(n) EIGHT(ONE, n)
#define NAMES(n) EIGHT(NAME, n)
// The preprocessor does not expand a macro inside itself, hence a second EIGHT.
#define ROW(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)

// clang-format off
ROW(ONES, 0) ROW(ONES, 1) ROW(ONES, 2) ROW(ONES, 3)
ROW(ONES, 4) ROW(ONES, 5) ROW(ONES, 6) ROW(ONES, 7)

static void (*const kFunctions[512])(void) = {
    ROW(NAMES, 0) ROW(NAMES, 1) ROW(NAMES, 2) ROW(NAMES, 3)
    ROW(NAMES, 4) ROW(NAMES, 5) ROW(NAMES, 6) ROW(NAMES, 7)};
// clang-format on

int main(int argc, char **argv, char **environment) {
  (void)environment;
  const long index = Argument(argc, argv, 1, 0) & 511;
  const long end = ClockNs(kToyMonotonic) + Argument(argc, argv, 2, 3600) * 1000000000;
  const long spin_ns = Argument(argc, argv, 3, 1000000) * 1000;
  const long sleep_us = Argument(argc, argv, 4, 0);
  long now = ClockNs(kToyMonotonic);
  do {
    const long spin_end = now + spin_ns;
    for (; now < spin_end; now = ClockNs(kToyMonotonic)) kFunctions[index]();
    if (sleep_us > 0) SleepUs(sleep_us);
    now = ClockNs(kToyMonotonic);
  } while (now < end);
  return 0;
}
