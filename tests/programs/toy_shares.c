// SPDX-License-Identifier: Apache-2.0
// toy_shares [SECONDS [five]]: three leaves with 50, 30 and 20 % of its CPU time, or with `five`
// five leaves with 19 % each and forty that share the last 5 %. At the end it prints, by its own
// thread clock, the nanoseconds of each function: the truth that a sampler is judged by.
#include "tests/programs/toy.h"

static volatile long calls;

#define LEAF(name)                   \
  TOY_FRAME void name(long rounds) { \
    SPIN(rounds);                    \
    calls = calls + 1;               \
  }
// Calls without semicolons: the formatter would indent what follows.
// clang-format off
LEAF(leaf_50) LEAF(leaf_30) LEAF(leaf_20)
LEAF(hot_0) LEAF(hot_1) LEAF(hot_2) LEAF(hot_3) LEAF(hot_4)
#define TEN(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
TEN(LEAF, rest_0) TEN(LEAF, rest_1) TEN(LEAF, rest_2) TEN(LEAF, rest_3)
    // clang-format on

    struct leaf {
  const char *name;
  void (*run)(long rounds);
  long weight;  // Its share of the CPU, in eighths of a percent.
  long spent_ns;
};
#define ROW(name, weight) {#name, name, weight, 0},
#define REST(name) ROW(name, 1)
static struct leaf three[] = {ROW(leaf_50, 400) ROW(leaf_30, 240) ROW(leaf_20, 160)};
static struct leaf five[] = {ROW(hot_0, 152) ROW(hot_1, 152) ROW(hot_2, 152) ROW(hot_3, 152) ROW(
    hot_4, 152) TEN(REST, rest_0) TEN(REST, rest_1) TEN(REST, rest_2) TEN(REST, rest_3)};

// The leaf that is farthest behind its share.
static struct leaf *Next(struct leaf *leaves, int count) {
  struct leaf *behind = leaves;
  for (int i = 1; i < count; ++i) {
    if (leaves[i].spent_ns * behind->weight < behind->spent_ns * leaves[i].weight) {
      behind = &leaves[i];
    }
  }
  return behind;
}

int main(int argc, char **argv, char **environment) {
  (void)environment;
  struct leaf *leaves = argc > 2 ? five : three;
  const int count = argc > 2 ? (int)(sizeof(five) / sizeof(five[0])) : 3;
  const long end = ClockNs(kToyMonotonic) + Argument(argc, argv, 1, 60) * 1000000000;
  unsigned long random = (unsigned long)SYS0(SYS_getpid) * 2654435761u + 1;
  while (ClockNs(kToyMonotonic) < end) {
    // Lengths vary, or the leaves' order would beat against the sampling period.
    random = random * 6364136223846793005u + 1442695040888963407u;
    struct leaf *leaf = Next(leaves, count);
    const long before = ClockNs(kToyThreadCpu);
    leaf->run(100000 + (long)(random >> 47));
    leaf->spent_ns += ClockNs(kToyThreadCpu) - before;
  }
  for (int i = 0; i < count; ++i) {
    Print(1, leaves[i].name);
    Print(1, " ");
    PrintNumber(1, (unsigned long)leaves[i].spent_ns);
    Print(1, "\n");
  }
  return 0;
}
