// SPDX-License-Identifier: Apache-2.0
/*
 * waits SECONDS: threads that wait in known ways, each of a name of its own in a function of its
 * own. At its end a thread says on a line of its own: name, lifetime, CPU time and time on a run
 * queue, all in nanoseconds and as the kernel counts them; the rest of its lifetime it waited for
 * something.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

static int64_t seconds;
static int64_t end_ns;
static int pipe_ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int64_t now(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void rest(int64_t ns) {
  const struct timespec time = {ns / 1000000000, ns % 1000000000};

  nanosleep(&time, NULL);
}

static void burn(int64_t ns) {
  for (int64_t until = now() + ns; now() < until;)
    ;
}

static void pin(unsigned int cpu) {
  cpu_set_t set;

  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

ALONE void sleeps(void) {
  while (now() < end_ns) rest(5000000);
}

/* One wait, longer than any window of the test. */
ALONE void waits_long(void) { rest(end_ns - now()); }

ALONE void reads(void) {
  char byte;

  while (read(pipe_ends[0], &byte, 1) == 1)
    ;
}

ALONE void feeds(void) {
  while (now() < end_ns) {
    rest(7000000);
    if (write(pipe_ends[1], "x", 1) != 1) break;
  }
  close(pipe_ends[1]);
}

ALONE void migrates(void) {
  for (unsigned int cpu = 0; now() < end_ns; cpu = !cpu) {
    pin(cpu);
    rest(3000000);
  }
}

/* Two of these share one CPU. */
ALONE void hogs(void) {
  pin(0);
  burn(end_ns - now());
}

ALONE void holds(void) {
  while (now() < end_ns) {
    pthread_mutex_lock(&mutex);
    rest(4000000);
    pthread_mutex_unlock(&mutex);
    rest(2000000);
  }
}

struct thread {
  const char *name;
  void (*run)(void);
};

static void *begin(void *argument) {
  const struct thread *thread = argument;
  int64_t born = now(), lived;
  int64_t cpu = 0, delay = 0;
  FILE *file;

  prctl(PR_SET_NAME, thread->name);
  thread->run();
  file = fopen("/proc/thread-self/schedstat", "r");
  lived = now() - born;
  if (!file || fscanf(file, "%" SCNd64 " %" SCNd64, &cpu, &delay) != 2) abort();
  fclose(file);
  printf("%s %" PRId64 " %" PRId64 " %" PRId64 "\n", thread->name, lived, cpu, delay);
  fflush(stdout);
  return NULL;
}

int main(int argc, char **argv) {
  static const struct thread threads[] = {
      {"sleeps", sleeps}, {"long", waits_long},   {"reads", reads},
      {"feeds", feeds},   {"migrates", migrates}, {"hog-a", hogs},
      {"hog-b", hogs},    {"holds-a", holds},     {"holds-b", holds},
  };
  enum { COUNT = sizeof(threads) / sizeof(threads[0]) };
  pthread_t ids[COUNT];

  seconds = argc > 1 ? atoi(argv[1]) : 10;
  end_ns = now() + seconds * 1000000000LL;
  if (pipe(pipe_ends)) return 1;
  for (int i = 0; i < COUNT; i++) pthread_create(&ids[i], NULL, begin, (void *)&threads[i]);
  for (int i = 0; i < COUNT; i++) pthread_join(ids[i], NULL);
  return 0;
}
