// SPDX-License-Identifier: Apache-2.0
// pulses SECONDS: computes in `burst` for the first 100 ms of each second of the wall clock, and in
// `tick` from 500 to 540 ms; sleeps between.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

static volatile uint64_t sink;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void spin(int64_t until_ns) {
  while (now_ns() < until_ns)
    for (int i = 0; i < 2000; i++) sink += (uint64_t)i * sink;
}

APART static void burst(int64_t until_ns) {
  spin(until_ns);
  sink++;
}

APART static void tick(int64_t until_ns) {
  spin(until_ns);
  sink++;
}

static void sleep_until(int64_t ns) {
  const struct timespec at = {ns / 1000000000, ns % 1000000000};
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL)) {
  }
}

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 10;
  const int64_t first = (now_ns() / 1000000000 + 1) * 1000000000;
  for (int i = 0; i < seconds; i++) {
    const int64_t begin = first + i * 1000000000ll;
    sleep_until(begin);
    burst(begin + 100000000);
    sleep_until(begin + 500000000);
    tick(begin + 540000000);
  }
  return 0;
}
