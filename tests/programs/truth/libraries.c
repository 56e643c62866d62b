// SPDX-License-Identifier: Apache-2.0
// Calls into a shared library that is opened at run time, and lets the dynamic linker find what it
// calls itself at the first call.
#include <dlfcn.h>
#include <stdlib.h>

#include "tests/programs/truth/truth.h"

static volatile long sum;

FRAME static void call_opened(const char *name) {
  void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) abort();
  long (*call)(long) = (long (*)(long))dlsym(library, "library_calls");
  sum = call(1);
  dlclose(library);
}

// Each time it is opened, all that the library calls is looked up anew, at the first call.
FRAME static void lazy_run(void) {
  for (int i = 0; i < 200; ++i) call_opened(getenv("TRUTH_LIBRARY"));
}
static void lazy_state(void) {
  STATE("lazy_run call_opened library_calls *");
  STATE("lazy_run call_opened *");
  STATE("lazy_run *");
}
const struct Shape kLazy = {"lazy", lazy_state, lazy_run};

FRAME static void dlopen_run(void) {
  static long (*call)(long);
  if (call == NULL) {
    void *library = dlopen(getenv("TRUTH_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) abort();
    call = (long (*)(long))dlsym(library, "library_chain");
  }
  for (long i = 0; i < 500000; ++i) sum = call(i);
}
static void dlopen_state(void) {
  STATE("dlopen_run library_chain library_middle library_leaf");
  STATE("dlopen_run library_chain library_middle .plt");
  STATE("dlopen_run library_chain .plt");
  STATE("dlopen_run library_chain library_leaf");
}
const struct Shape kDlopen = {"dlopen", dlopen_state, dlopen_run};
