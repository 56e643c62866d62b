// SPDX-License-Identifier: Apache-2.0
/*
 * main calls Top, Top calls Middle, Middle calls Leaf, which burns CPU: chain SECONDS. The
 * functions have TAG in their names, which the linker leaves out of the build id. With LIBRARY main
 * loads the file in its second argument, and Top is there; without it a third argument changes
 * nothing.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef TAG
#define TAG
#endif
#ifndef ROUNDS
#define ROUNDS 2000000
#endif
#define JOIN(a, b) a##b
#define NAME(a, tag) JOIN(a, tag)
#define TOP NAME(Top, TAG)
#define MIDDLE NAME(Middle, TAG)
#define LEAF NAME(Leaf, TAG)

static int is_over(const char *seconds) {
  static time_t begin;
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  if (begin == 0) begin = now.tv_sec;
  return now.tv_sec - begin >= atoi(seconds);
}

#ifdef LIBRARY

int main(int argc, char **argv) {
  void *library = argc < 3 ? NULL : dlopen(argv[2], RTLD_NOW);
  void (*top)(int) = library ? (void (*)(int))dlsym(library, "Top") : NULL;

  if (!top) {
    fprintf(stderr, "no library: %s\n", dlerror());
    return 1;
  }
  while (!is_over(argv[1])) top(ROUNDS);
}

#else

static volatile uint64_t sink;

__attribute__((noinline)) void LEAF(int n) {
  for (volatile int i = 0; i < n; i++) sink ^= i + ROUNDS;
}

__attribute__((noinline)) void MIDDLE(int n) {
  LEAF(n);
  sink++;
}

__attribute__((noinline)) void TOP(int n) {
  MIDDLE(n);
  sink++;
}

#ifndef NO_MAIN
int main(int argc, char **argv) {
  while (argc > 1 && !is_over(argv[1])) TOP(ROUNDS);
}
#endif
#endif
