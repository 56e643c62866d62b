// SPDX-License-Identifier: Apache-2.0
// every_type: a function of its own for each type of profile: burns, waits, waits for a lock,
// allocates, touches new memory. Until it is ended.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;
static void* volatile kept;

APART static void burns(void) {
  for (int i = 0; i < 400000; i++) sink += (unsigned long)i;
}

APART static void waits_here(void) { usleep(5000); }

APART static void takes_lock(void) {
  pthread_mutex_lock(&lock);
  usleep(4000);
  pthread_mutex_unlock(&lock);
}

APART static void allocates_here(void) {
  kept = malloc(30000);
  if (!kept) abort();
  free(kept);
}

APART static void touches_here(void) {
  const size_t bytes = 256 << 10;
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  for (size_t at = 0; at < bytes; at += 4096) ((volatile char*)memory)[at] = 1;
  munmap(memory, bytes);
}

static void* lockers(void* unused) {
  for (;;) takes_lock();
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, lockers, NULL)) return 1;
  for (;;) {
    burns();
    waits_here();
    allocates_here();
    touches_here();
  }
}
