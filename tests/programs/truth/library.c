// SPDX-License-Identifier: Apache-2.0
#include "tests/programs/truth/library.h"

#include <stdlib.h>
#include <string.h>

#include "tests/programs/truth/truth.h"

FRAME long library_leaf(long x) { return x * 3 + 1; }
FRAME long library_middle(long x) { return library_leaf(x) ^ x; }
FRAME long library_chain(long x) { return library_middle(x) + library_leaf(x) * x; }

FRAME long library_calls(long x) {
  char text[32] = "12 34 56";
  char *end = text;
  x += strtol(text, &end, 10) + labs(x) + (long)strnlen(end, 8) + atol(end) + strcspn(end, "5");
  return x + (long)strtoul(end, NULL, 8) + (long)strspn(end, " 3") + (strpbrk(end, "4") != NULL);
}
