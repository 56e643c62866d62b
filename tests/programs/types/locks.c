// SPDX-License-Identifier: Apache-2.0
/*
 * locks SECONDS: pairs of threads, of which one holds something that the other waits for. At its
 * end a waiter says on a line of its own: name, nanoseconds that it waited by its own watch, and
 * how often.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#define ALONE __attribute__((noinline, noclone))
#define MS 1000000LL
#define MUTEXES 4

static int64_t end_ns;
static pthread_mutex_t mutexes[MUTEXES];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int queued;

static int64_t now(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 * MS + time.tv_nsec;
}

static void rest(int64_t ns) {
  const struct timespec time = {0, ns};

  nanosleep(&time, NULL);
}

/* A thread's waits, at the end of which it may have run into the end of the program. */
struct waited {
  int64_t ns;
  int64_t times;
};

static void add(struct waited *waited, int64_t since) {
  const int64_t ns = now() - since;

  if (ns < MS) return; /* it was free */
  waited->ns += ns;
  waited->times++;
}

static void say(const char *name, const struct waited *waited) {
  printf("%s %" PRId64 " %" PRId64 "\n", name, waited->ns, waited->times);
}

/* Holds the n-th mutex for 2, 4, 8 or 16 ms of each round. */
ALONE static void holds(int n) {
  pthread_mutex_lock(&mutexes[n]);
  rest((2LL << n) * MS);
  pthread_mutex_unlock(&mutexes[n]);
}

ALONE static void takes(int n, struct waited *waited) {
  const int64_t since = now();

  pthread_mutex_lock(&mutexes[n]);
  pthread_mutex_unlock(&mutexes[n]);
  add(waited, since);
}

static void *holder(void *of) {
  const int n = (int)(intptr_t)of;
  char name[16];

  snprintf(name, sizeof(name), "holder-%d", n);
  prctl(PR_SET_NAME, name);
  while (now() < end_ns) {
    holds(n);
    rest(2 * MS);
  }
  return NULL;
}

static void *taker(void *of) {
  const int n = (int)(intptr_t)of;
  struct waited waited = {0, 0};
  char name[16];

  snprintf(name, sizeof(name), "taker-%d", n);
  prctl(PR_SET_NAME, name);
  while (now() < end_ns) {
    takes(n, &waited);
    /* Told, if it were for a lock. The first one's waits would be too short to be told then. */
    rest(n == 0 ? MS / 2 : 3 * MS / 2);
  }
  say(name, &waited);
  return NULL;
}

ALONE static void writes(void) {
  pthread_rwlock_wrlock(&rwlock);
  rest(6 * MS);
  pthread_rwlock_unlock(&rwlock);
}

ALONE static void reads(struct waited *waited) {
  const int64_t since = now();

  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
  add(waited, since);
}

static void *writer(void *unused) {
  (void)unused;
  prctl(PR_SET_NAME, "writer");
  while (now() < end_ns) {
    writes();
    rest(2 * MS);
  }
  return NULL;
}

static void *reader(void *unused) {
  struct waited waited = {0, 0};

  (void)unused;
  prctl(PR_SET_NAME, "reader");
  while (now() < end_ns) {
    reads(&waited);
    rest(MS / 2);
  }
  say("reader", &waited);
  return NULL;
}

ALONE static void consumes(struct waited *waited) {
  const int64_t since = now();

  pthread_mutex_lock(&queue);
  while (!queued) pthread_cond_wait(&filled, &queue);
  queued = 0;
  pthread_mutex_unlock(&queue);
  add(waited, since);
}

ALONE static void produces(void) {
  pthread_mutex_lock(&queue);
  queued = 1;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&queue);
}

static void *producer(void *unused) {
  (void)unused;
  prctl(PR_SET_NAME, "producer");
  while (now() < end_ns + 50 * MS) {
    rest(7 * MS);
    produces();
  }
  return NULL;
}

static void *consumer(void *unused) {
  struct waited waited = {0, 0};

  (void)unused;
  prctl(PR_SET_NAME, "consumer");
  while (now() < end_ns) consumes(&waited);
  say("consumer", &waited);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[2 * MUTEXES + 4];
  size_t count = 0;

  end_ns = now() + (argc > 1 ? atoll(argv[1]) : 10) * 1000 * MS;
  for (intptr_t n = 0; n < MUTEXES; n++) {
    pthread_mutex_init(&mutexes[n], NULL);
    pthread_create(&threads[count++], NULL, holder, (void *)n);
    pthread_create(&threads[count++], NULL, taker, (void *)n);
  }
  pthread_create(&threads[count++], NULL, writer, NULL);
  pthread_create(&threads[count++], NULL, reader, NULL);
  pthread_create(&threads[count++], NULL, producer, NULL);
  pthread_create(&threads[count++], NULL, consumer, NULL);
  for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
  fflush(stdout);
  return 0;
}
