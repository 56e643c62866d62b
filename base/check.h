// SPDX-License-Identifier: Apache-2.0
// CHECK(condition): a broken invariant ends the process; its supervisor starts a clean one.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (__builtin_expect(!(condition), 0)) {                                             \
      std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (0)
