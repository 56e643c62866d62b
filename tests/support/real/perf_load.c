// SPDX-License-Identifier: Apache-2.0
// Threads with the names given, which compute, fault pages in and sleep: perf_load SECONDS NAME…
// Each takes so many seconds of CPU, so that there are as many samples on a busy machine. A call of
// `inner` is inlined into `middle`.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { kMaxThreads = 16, kBytes = 1 << 15, kPage = 4096 };

static volatile unsigned long sink;
static double seconds;

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static inline __attribute__((always_inline)) void inner(unsigned long turns) {
  for (unsigned long i = 0; i < turns; i++) sink += i * i;
}

__attribute__((noinline)) void middle(unsigned long turns) {
  inner(turns);
  sink++;
}

__attribute__((noinline)) void outer(double end) {
  for (int turn = 0; Now() < end; turn++) {
    middle(300000);
    if (turn % 8 != 0) continue;
    char *bytes = mmap(0, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < kBytes; i += kPage) bytes[i] = 1;
    munmap(bytes, kBytes);
    usleep(300);
  }
  sink++;
}

static void *Run(void *name) {
  prctl(PR_SET_NAME, name);
  outer(Now() + seconds);
  return 0;
}

int main(int count, char **words) {
  pthread_t threads[kMaxThreads];
  int begun = 0;
  seconds = count > 1 ? atof(words[1]) : 0.05;
  for (int i = 2; i < count && begun < kMaxThreads; i++) {
    if (pthread_create(&threads[begun], 0, Run, words[i]) == 0) begun++;
  }
  outer(Now() + seconds);
  for (int i = 0; i < begun; i++) pthread_join(threads[i], 0);
  return 0;
}
