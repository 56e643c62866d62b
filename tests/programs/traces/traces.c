// SPDX-License-Identifier: Apache-2.0
// traces SECONDS [FILE]: threads that work, and wait, on traces of theirs by turns, in functions
// that say on which: each sample's stack tells what its trace must be. Thread N's trace K is N, K
// and 5a…, its span N, K and c3…. Odd threads set the pointer to a record, even ones change a
// record in place. They begin once FILE is there; until then the main thread works on trace 9 of
// thread 9. With OPENED defined the variable is in a library that is opened by name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/traces/context.h"

enum { kThreads = 3 };

#ifdef OPENED
static void (*set)(struct record *);
#else
#define set publish
#endif

static volatile unsigned long sink;
static double end;

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline __attribute__((always_inline)) void Spin(void) {
  for (unsigned long i = 0; i < 3000000; ++i) sink += i;
}

static inline __attribute__((always_inline)) void Wait(void) {
  struct timespec span = {0, 3000000};
  nanosleep(&span, NULL);
}

#define IN(name, what)                               \
  __attribute__((noinline)) static void name(void) { \
    what();                                          \
    sink += 1;                                       \
  }
IN(works_on_1, Spin)
IN(works_on_2, Spin)
IN(works_on_none, Spin)
IN(works_on_invalid, Spin)
IN(warms, Spin)
IN(waits_on_1, Wait)
IN(waits_on_none, Wait)

static void Fill(struct record *record, int thread, int trace) {
  memset(record->trace_id, 0x5a, sizeof(record->trace_id));
  memset(record->span_id, 0xc3, sizeof(record->span_id));
  record->trace_id[0] = record->span_id[0] = (uint8_t)thread;
  record->trace_id[1] = record->span_id[1] = (uint8_t)trace;
  record->attributes_bytes = 0;
  record->trace_flags = 1;
}

#define FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

// `trace` 0: none.
static void Attach(struct record *own, int thread, int trace) {
  if (thread % 2 == 1) {
    set(NULL);
    if (trace == 0) return;
    Fill(own, thread, trace);
    own->valid = 1;
    FENCE();
    set(own);
  } else {
    own->valid = 0;
    FENCE();
    Fill(own, thread, trace);
    FENCE();
    own->valid = trace == 0 ? 0 : 1;
    set(own);
  }
}

static void *Work(void *argument) {
  const int thread = (int)(long)argument;
  struct record own = {0};
  char name[16];
  snprintf(name, sizeof(name), "work-%d", thread);
  pthread_setname_np(pthread_self(), name);
  while (Now() < end) {
    Attach(&own, thread, 1);
    works_on_1();
    waits_on_1();
    Attach(&own, thread, 2);
    works_on_2();
    Attach(&own, thread, 0);
    works_on_none();
    waits_on_none();
    Attach(&own, thread, 3);
    own.valid = 2;
    works_on_invalid();
  }
  return NULL;
}

int main(int argc, char **argv) {
#ifdef OPENED
  void *library = dlopen(OPENED, RTLD_NOW);
  if (library == NULL) return 1;
  *(void **)&set = dlsym(library, "publish");
#endif
  static struct record own;
  Fill(&own, 9, 9);
  own.valid = 1;
  set(&own);
  while (argc > 2 && access(argv[2], F_OK) != 0) warms();
  set(NULL);
  end = Now() + (argc > 1 ? atof(argv[1]) : 10);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, Work, (void *)(i + 1));
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  return 0;
}
