// SPDX-License-Identifier: Apache-2.0
// traces SECONDS: threads that work, and wait, on traces of theirs by turns, in functions that say
// on which: each sample's stack tells what its trace must be. Thread N's trace K is N, K and 5a…,
// its span N, K and c3…. Odd threads set the pointer to a record, even ones change a record in
// place. With OPENED defined the variable is in a library that is opened while the threads run
// already; then only those that work after that have traces.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
  end = Now() + (argc > 1 ? atof(argv[1]) : 10);
  // Stacks are met, and the variable is looked for, before there is a trace.
  const double begin = Now() + 1.5;
  while (Now() < begin) Spin();
#ifdef OPENED
  void *library = dlopen(OPENED, RTLD_NOW);
  if (library == NULL) return 1;
  *(void **)&set = dlsym(library, "publish");
  const double opened = Now() + 1.5;
  while (Now() < opened) Spin();
#endif
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, Work, (void *)(i + 1));
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  return 0;
}
