// SPDX-License-Identifier: Apache-2.0
/*
 * events SECONDS: threads that cause events in known numbers, each of a name of its own. At its end
 * a thread says on a line of its own: name, page faults, context switches and system calls, as the
 * kernel or it itself counted them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))
#define PAGE 4096
#define PAGES 1024

static int64_t end_ns;

static int64_t now(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static char *fresh(void) {
  char *memory =
      mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (memory == MAP_FAILED) exit(1);
  madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
  return memory;
}

/* Three quarters of the pages, one fault each. */
ALONE static void touches_many(volatile char *memory) {
  for (int page = 0; page < PAGES * 3 / 4; page++) memory[page * PAGE] = 1;
}

/* The last quarter. */
ALONE static void touches_few(volatile char *memory) {
  for (int page = PAGES * 3 / 4; page < PAGES; page++) memory[page * PAGE] = 1;
}

ALONE static int64_t faults(void) {
  while (now() < end_ns) {
    char *memory = fresh();

    touches_many(memory);
    touches_few(memory);
    munmap(memory, PAGES * PAGE);
  }
  return 0;
}

ALONE static int64_t switches(void) {
  while (now() < end_ns) {
    const struct timespec time = {0, 100000};

    nanosleep(&time, NULL);
  }
  return 0;
}

/* glibc's getppid is the system call itself. */
ALONE static int64_t calls(void) {
  int64_t count = 0;

  while (now() < end_ns) {
    for (int i = 0; i < 1000; i++) getppid();
    count += 1000;
    sched_yield();
  }
  return count;
}

struct thread {
  const char *name;
  int64_t (*work)(void);
  pthread_t id;
};
static struct thread threads[] = {{.name = "faults", .work = faults},
                                  {.name = "switches", .work = switches},
                                  {.name = "calls", .work = calls}};

static void *run(void *of) {
  const struct thread *thread = of;
  struct rusage used;
  int64_t count;

  prctl(PR_SET_NAME, thread->name);
  count = thread->work();
  getrusage(RUSAGE_THREAD, &used);
  printf("%s %ld %ld %ld\n", thread->name, used.ru_minflt + used.ru_majflt,
         used.ru_nvcsw + used.ru_nivcsw, (long)count);
  return NULL;
}

int main(int argc, char **argv) {
  const size_t count = sizeof(threads) / sizeof(threads[0]);

  end_ns = now() + (argc > 1 ? atoll(argv[1]) : 10) * 1000000000LL;
  for (size_t i = 0; i < count; i++) pthread_create(&threads[i].id, NULL, run, &threads[i]);
  for (size_t i = 0; i < count; i++) pthread_join(threads[i].id, NULL);
  fflush(stdout);
  return 0;
}
