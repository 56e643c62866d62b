// SPDX-License-Identifier: Apache-2.0
// Frames of unusual shape.
#include <alloca.h>
#include <string.h>

#include "tests/programs/truth/truth.h"

static volatile long sum;

FRAME long frames_leaf(const volatile long *at) { return at[0] + at[1]; }

// The frame's size is known when it runs.
FRAME long with_alloca(long words) {
  volatile long *room = alloca((size_t)words * sizeof(long));
  room[0] = words;
  room[1] = words + 1;
  return frames_leaf(room);
}

FRAME static void alloca_run(void) {
  for (long i = 0; i < 1000000; ++i) sum = with_alloca(2 + i % 500);
}
static void alloca_state(void) { STATE("alloca_run with_alloca frames_leaf"); }
const struct Shape kAlloca = {"alloca", alloca_state, alloca_run};

// Locals for vector instructions move the stack pointer to a multiple of 64: what it was is found
// through RBP, or, with arguments on the stack or alloca besides, through a third register.
FRAME long over_aligned(long x) {
  volatile long values[16] __attribute__((aligned(64)));
  values[0] = x;
  values[1] = x + 1;
  return frames_leaf(values);
}

FRAME long over_aligned_arguments(long a, long b, long c, long d, long e, long f, long g, long h) {
  volatile long values[16] __attribute__((aligned(64)));
  values[0] = a + b + c + d;
  values[1] = e + f + g + h;
  return frames_leaf(values) + over_aligned(a);
}

FRAME __attribute__((force_align_arg_pointer)) long aligned_arguments(long x) {
  volatile long *room = alloca((size_t)(x % 64 + 2) * sizeof(long));
  room[0] = room[1] = x;
  return frames_leaf(room) + over_aligned_arguments(x, 1, 2, 3, 4, 5, 6, 7);
}

FRAME static void realigned_run(void) {
  for (long i = 0; i < 500000; ++i) sum = aligned_arguments(i);
}
static void realigned_state(void) {
  STATE("realigned_run aligned_arguments over_aligned_arguments over_aligned frames_leaf");
  STATE("realigned_run aligned_arguments over_aligned_arguments frames_leaf");
  STATE("realigned_run aligned_arguments frames_leaf");
}
const struct Shape kRealigned = {"realigned", realigned_state, realigned_run};

// A call that is a jump leaves no frame.
FRAME long tail_end(long x) {
  const volatile long values[2] = {x, x};
  return frames_leaf(values);
}
FRAME long tail_middle(long x) { return tail_end(x + 1); }
FRAME long tail_first(long x) { return tail_middle(x * 3); }

FRAME static void tail_run(void) {
  for (long i = 0; i < 1000000; ++i) sum = tail_first(i);
}
static void tail_state(void) {
  STATE("tail_run tail_first");
  STATE("tail_run tail_middle");
  STATE("tail_run tail_end frames_leaf");
}
const struct Shape kTail = {"tail", tail_state, tail_run};

enum { kLevels = 2000 };

FRAME long deepest(long x) {
  for (long i = 0; i < 100000; ++i) __asm__ volatile("" : "+r"(x));
  return x;
}
// Not a tail call: there is work behind it. Each keeps another number of bytes on the stack.
FRAME long descend(long left) {
  volatile char room[8];
  room[left & 7] = 1;
  return (left > 1 ? descend(left - 1) : deepest(left)) + room[left & 7];
}
FRAME static void deep_run(void) {
  for (long i = 0; i < 50; ++i) sum = descend(kLevels);
}
static void deep_state(void) { STATE("deep_run descend{2000} deepest"); }
const struct Shape kDeep = {"deep", deep_state, deep_run};
