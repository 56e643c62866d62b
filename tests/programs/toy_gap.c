// SPDX-License-Identifier: Apache-2.0
// toy_gap [SECONDS [FRAMES [WINDOW_MS]]]: how much of its CPU a thread loses to interruptions. It
// looks at the time stamp counter all the time, under FRAMES frames without frame pointers; what is
// missing between two looks was spent elsewhere. A row for each window: its begin and end
// (CLOCK_MONOTONIC, ns), the gaps in it and the ns lost in them. Gaps above 150 us are the
// scheduler's: another thread ran.
#include "tests/programs/toy.h"

enum {
  kNamedFrames = 3,  // main, window and leaf
  kLeastGapTicks = 600,
  kMostGapNs = 150000,
  kLooksBetweenClocks = 4096,
};

static long levels, window_ns;

static inline unsigned long Ticks(void) {
  unsigned int low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (unsigned long)high << 32 | low;
}

static void Row(long begin_ns, long end_ns, unsigned long gaps, unsigned long lost_ns) {
  PrintNumber(1, (unsigned long)begin_ns);
  Print(1, " ");
  PrintNumber(1, (unsigned long)end_ns);
  Print(1, " ");
  PrintNumber(1, gaps);
  Print(1, " ");
  PrintNumber(1, lost_ns);
  Print(1, "\n");
}

TOY_FRAME long leaf(char *data) {
  (void)data;
  const long begin_ns = ClockNs(kToyMonotonic);
  const unsigned long begin = Ticks();
  static unsigned long gap[1 << 16];
  unsigned long gaps = 0, lost = 0, last = begin;
  long end_ns = begin_ns;
  while (end_ns - begin_ns < window_ns) {
    for (int look = 0; look < kLooksBetweenClocks; ++look) {
      const unsigned long now = Ticks();
      if (now - last >= kLeastGapTicks && gaps < sizeof gap / sizeof *gap) gap[gaps++] = now - last;
      last = now;
    }
    end_ns = ClockNs(kToyMonotonic);
    last = Ticks();
  }
  const unsigned long ticks = last - begin, ns = (unsigned long)(end_ns - begin_ns);
  const unsigned long most = kMostGapNs * (ticks / 1000) / (ns / 1000);
  unsigned long counted = 0;
  for (unsigned long i = 0; i < gaps; ++i) {
    if (gap[i] > most) continue;
    lost += gap[i];
    ++counted;
  }
  Row(begin_ns, end_ns, counted, lost * (ns / 1000) / (ticks / 1000));
  return end_ns;
}

#include "tests/programs/levels.h"

TOY_FRAME void window(void) { level_entries[levels - 1](0); }

int main(int argc, char **argv, char **environment) {
  (void)environment;
  const long end_ns = ClockNs(kToyMonotonic) + Argument(argc, argv, 1, 3600) * 1000000000L;
  levels = Argument(argc, argv, 2, 30) - kNamedFrames;
  window_ns = Argument(argc, argv, 3, 250) * 1000000L;
  if (levels < 1 || levels > kMostLevels || window_ns < 1000000L) return 2;
  while (ClockNs(kToyMonotonic) < end_ns) window();
  return 0;
}
