// SPDX-License-Identifier: Apache-2.0
#include "tests/bpf/known_frames.h"

// Noipa and with work after the call, so that each is a frame of its own.
#define FRAME __attribute__((noipa))
#define BARE __attribute__((noipa, optimize("omit-frame-pointer", "no-optimize-sibling-calls")))

// The compiler leaves frame pointers out of functions that call nothing: leaf calls this once.
FRAME static uint64_t known_seed(uint64_t rounds) { return rounds & 1; }

FRAME uint64_t known_leaf(uint64_t rounds) {
  uint64_t sum = known_seed(rounds);
  for (uint64_t i = 0; i < rounds; ++i) {
    sum += i * sum + 7;
    __asm__ volatile("" : "+r"(sum));
  }
  return sum;
}

FRAME uint64_t known_middle(uint64_t rounds) { return known_leaf(rounds) + 1; }
FRAME uint64_t known_outer(uint64_t rounds) { return known_middle(rounds) + 2; }

BARE static uint64_t bare_seed(uint64_t rounds) { return rounds & 1; }

BARE uint64_t bare_leaf(uint64_t rounds) {
  uint64_t sum = bare_seed(rounds);
  for (uint64_t i = 0; i < rounds; ++i) {
    sum += i * sum + 7;
    __asm__ volatile("xor %%rbp, %%rbp" : "+r"(sum) : : "rbp");
  }
  return sum;
}

BARE uint64_t bare_middle(uint64_t rounds) { return bare_leaf(rounds) + 1; }
BARE uint64_t bare_outer(uint64_t rounds) { return bare_middle(rounds) + 2; }
