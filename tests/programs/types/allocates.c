// SPDX-License-Identifier: Apache-2.0
// allocates SECONDS PAUSE: allocates by each function of an allocator, in C functions of their own,
// after a pause. Says at the end how often and how much: "FUNCTION CALLS BYTES".
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

struct account {
  const char* name;
  uint64_t calls;
  uint64_t bytes;
};

static void* volatile kept;

static void count(struct account* of, void* memory, size_t bytes) {
  if (!memory) abort();
  kept = memory;
  of->calls++;
  of->bytes += bytes;
}

APART static void allocates_small(struct account* of) {
  for (int i = 0; i < 20; i++) {
    count(of, malloc(40), 40);
    free(kept);
  }
}

APART static void allocates_large(struct account* of) {
  count(of, malloc(20000), 20000);
  free(kept);
}

APART static void allocates_zeroed(struct account* of) {
  count(of, calloc(10, 300), 3000);
  free(kept);
}

// Some grow in place, some move, and the first is an allocation of a call within.
APART static void reallocates(struct account* of) {
  void* memory = NULL;
  for (size_t bytes = 512; bytes <= 4096; bytes *= 2) {
    memory = realloc(memory, bytes);
    count(of, memory, bytes);
  }
  free(memory);
}

APART static void allocates_aligned(struct account* of) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, 1000)) abort();
  count(of, memory, 1000);
  free(memory);
  count(of, aligned_alloc(16, 1600), 1600);
  free(kept);
  count(of, memalign(8, 1200), 1200);
  free(kept);
}

APART static void duplicates(struct account* of, const char* text) {
  count(of, strdup(text), strlen(text) + 1);
  free(kept);
}

static struct account accounts[] = {{"allocates_small", 0, 0},   {"allocates_large", 0, 0},
                                    {"allocates_zeroed", 0, 0},  {"reallocates", 0, 0},
                                    {"allocates_aligned", 0, 0}, {"duplicates", 0, 0}};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  static char text[2001];
  memset(text, 'x', sizeof(text) - 1);
  if (argc != 3) return 2;
  sleep((unsigned)atoi(argv[2]));
  const double end = now() + atof(argv[1]);
  while (now() < end) {
    allocates_small(&accounts[0]);
    allocates_large(&accounts[1]);
    allocates_zeroed(&accounts[2]);
    reallocates(&accounts[3]);
    allocates_aligned(&accounts[4]);
    duplicates(&accounts[5], text);
    usleep(1000);
  }
  for (size_t i = 0; i < sizeof(accounts) / sizeof(accounts[0]); i++)
    printf("%s %lu %lu\n", accounts[i].name, (unsigned long)accounts[i].calls,
           (unsigned long)accounts[i].bytes);
  fflush(stdout);
  sleep(3);
  return 0;
}
