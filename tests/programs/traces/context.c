// SPDX-License-Identifier: Apache-2.0
// The variable of each thread that OTEP 4947 (Thread Context) defines, and how to set it. Built
// into a program, or as a library with each model of thread-local storage.
#include "tests/programs/traces/context.h"

#ifdef ROOM
// So large that the loader would not place it beside the libraries that are there from the start.
static __thread char room[ROOM];
#endif

__attribute__((visibility("default"))) __thread struct record *volatile otel_thread_ctx_v1;

__attribute__((visibility("default"), noinline)) void publish(struct record *record) {
#ifdef ROOM
  *(volatile char *)room = 1;
#endif
  otel_thread_ctx_v1 = record;
}
