// SPDX-License-Identifier: Apache-2.0
// Calls so short that many samples fall into the procedure linkage table before them.
#include "tests/programs/truth/library.h"
#include "tests/programs/truth/truth.h"

static volatile long sum;

FRAME static void plt_run(void) {
  long total = 0;
  for (long i = 0; i < 3000000; ++i) total += library_leaf(i);
  sum = total;
}
static void plt_state(void) {
  STATE("plt_run .plt");
  STATE("plt_run library_leaf");
}
const struct Shape kPlt = {"plt", plt_state, plt_run};
