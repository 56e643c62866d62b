// SPDX-License-Identifier: Apache-2.0
// keeps PAUSE SECONDS: after a pause, allocates for some seconds by C functions of their own, and
// keeps some of it. Says then how much is in use, "FUNCTION OBJECTS BYTES", and stays until it is
// told to end.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

struct account {
  const char* name;
  uint64_t objects;
  uint64_t bytes;
};

enum { kSlots = 200 };
static void* slots[kSlots];
static void* volatile last;

static void* count(struct account* of, void* memory, size_t bytes) {
  if (!memory) abort();
  of->objects++;
  of->bytes += bytes;
  last = memory;
  return memory;
}

static void uncount(struct account* of, void* memory, size_t bytes) {
  of->objects--;
  of->bytes -= bytes;
  free(memory);
}

APART static void keeps_all(struct account* of) { count(of, malloc(1000), 1000); }

// 1 MB a second.
APART static void leaks(struct account* of) { count(of, malloc(25000), 25000); }

APART static void keeps_zeroed(struct account* of) { count(of, calloc(5, 300), 1500); }

APART static void keeps_aligned(struct account* of) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, 2000)) abort();
  count(of, memory, 2000);
}

APART static void frees_all(struct account* of) {
  uncount(of, count(of, malloc(5000), 5000), 5000);
}

APART static void grows(struct account* of) {
  void* memory = malloc(300);
  memory = realloc(memory, 700);
  count(of, realloc(memory, 3000), 3000);
}

// Frees what was in a slot of the table before.
APART static void replaces(struct account* of, unsigned turn) {
  void** slot = &slots[turn % kSlots];
  if (*slot) uncount(of, *slot, 9000);
  *slot = count(of, malloc(9000), 9000);
}

static struct account accounts[] = {
    {"keeps_all", 0, 0}, {"keeps_zeroed", 0, 0}, {"keeps_aligned", 0, 0}, {"frees_all", 0, 0},
    {"grows", 0, 0},     {"replaces", 0, 0},     {"leaks", 0, 0}};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  sleep((unsigned)atoi(argv[1]));
  const double end = now() + atof(argv[2]);
  for (unsigned turn = 0; now() < end; turn++) {
    keeps_all(&accounts[0]);
    keeps_zeroed(&accounts[1]);
    keeps_aligned(&accounts[2]);
    frees_all(&accounts[3]);
    grows(&accounts[4]);
    replaces(&accounts[5], turn);
    leaks(&accounts[6]);
    usleep(25000);
  }
  for (size_t i = 0; i < sizeof(accounts) / sizeof(*accounts); i++)
    printf("%s %llu %llu\n", accounts[i].name, (unsigned long long)accounts[i].objects,
           (unsigned long long)accounts[i].bytes);
  fflush(stdout);
  for (;;) pause();
}
