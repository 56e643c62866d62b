// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

// Functions whose stack is known: outer calls middle calls leaf, which burns `rounds`. In C and
// with flags of their own, so that neither the preset nor its compiler has a say in their frames.
#ifdef __cplusplus
extern "C" {
#endif

uint64_t known_leaf(uint64_t rounds);
uint64_t known_middle(uint64_t rounds);
uint64_t known_outer(uint64_t rounds);

// The same without frame pointers, and with RBP put to other use.
uint64_t bare_leaf(uint64_t rounds);
uint64_t bare_middle(uint64_t rounds);
uint64_t bare_outer(uint64_t rounds);

#ifdef __cplusplus
}
#endif
