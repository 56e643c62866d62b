// SPDX-License-Identifier: Apache-2.0
// Functions so small that most samples fall on their first and last instructions.
#include "tests/programs/truth/truth.h"

static volatile long sum;

FRAME long leaf(long x) { return x * 3 + 1; }

FRAME long small(long x) { return leaf(x) ^ x; }

// Returns at once or saves registers: shrink-wrapped.
FRAME long wrapped(long x) {
  if ((x & 1) != 0) return x;
  long kept = leaf(x);
  return small(kept) + kept * x;
}

// All registers that a callee keeps are live: six pushes, and six pops.
FRAME long pushes(long a, long b, long c, long d, long e) {
  const long f = leaf(a), g = leaf(b), h = leaf(c), i = leaf(d), j = leaf(e);
  return wrapped(f + g) + f * g + h * i + j * a + b * c + d * e;
}

// More locals than the red zone has room for.
FRAME long locals(long x) {
  volatile long values[40];
  for (long i = 0; i < 40; i += 13) values[i] = leaf(x + i);
  return values[13] + pushes(x, x + 1, x + 2, x + 3, x + 4);
}

FRAME static void chain_run(void) {
  long total = 0;
  for (long i = 0; i < 20000; ++i) total += locals(i);
  sum = total;
}

static void chain_state(void) {
  STATE("chain_run locals pushes wrapped small leaf");
  STATE("chain_run locals pushes wrapped leaf");
  STATE("chain_run locals pushes leaf");
  STATE("chain_run locals leaf");
}

const struct Shape kChain = {"chain", chain_state, chain_run};
