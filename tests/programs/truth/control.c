// SPDX-License-Identifier: Apache-2.0
// Control flow that no call instruction shows: signals, and a child on its parent's stack.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth/truth.h"

static volatile long sum;

FRAME static void control_spin(long rounds) {
  for (long i = 0; i < rounds; ++i) __asm__ volatile("" : "+r"(i));
}

FRAME long interrupted_leaf(long x) { return x * 3 + 1; }
FRAME long interrupted_middle(long a, long b, long c) {
  const long d = interrupted_leaf(a), e = interrupted_leaf(b);
  return interrupted_leaf(c) + d * e + a * b;
}
FRAME long interrupted(long x) { return interrupted_middle(x, x + 1, x + 2) ^ x; }

static void handler(int number) {
  control_spin(200000);
  sum += number;
}

// Calls `handler` every millisecond of that timer, never within itself.
static void handle_every(int number, int timer, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = handler;
  action.sa_flags = flags | SA_RESTART;
  sigaddset(&action.sa_mask, SIGALRM);
  sigaddset(&action.sa_mask, SIGVTALRM);
  sigaction(number, &action, NULL);
  const struct itimerval every = {{0, 1000}, {0, 1000}};
  setitimer(timer, &every, NULL);
}

// A part of the time is spent in a handler: for one signal on a stack of its own, for the other on
// the one that was interrupted.
FRAME static void signal_run(void) {
  static char *stack;
  if (stack == NULL) {
    stack = malloc(1 << 16);
    const stack_t alternate = {.ss_sp = stack, .ss_size = 1 << 16};
    sigaltstack(&alternate, NULL);
    handle_every(SIGALRM, ITIMER_REAL, SA_ONSTACK);
    handle_every(SIGVTALRM, ITIMER_VIRTUAL, 0);
  }
  for (long i = 0; i < 500000; ++i) sum = interrupted(i);
}

static void signal_state(void) {
  // The kernel makes a signal's frame, and its handler returns to a function of the C library's.
  static const char *const kBelow[] = {"main *",
                                       "main signal_run *",
                                       "main signal_run interrupted",
                                       "main signal_run interrupted interrupted_leaf",
                                       "main signal_run interrupted interrupted_middle",
                                       "main signal_run interrupted interrupted_middle "
                                       "interrupted_leaf"};
  const size_t root = strlen(ROOT) - strlen("main");
  for (size_t i = 0; i < sizeof(kBelow) / sizeof(kBelow[0]); ++i) {
    printf("stack %.*s%s __restore_rt handler control_spin\n", (int)root, ROOT, kBelow[i]);
  }
}
const struct Shape kSignal = {"signal", signal_state, signal_run};

FRAME static void vfork_child(void) {
  control_spin(10000000);
  sum = sum + 1;
}

FRAME static void vfork_parent(void) {
  const pid_t child = vfork();
  if (child == 0) {
    vfork_child();
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

FRAME static void vfork_run(void) {
  vfork_parent();
  sum = sum + 1;
}
static void vfork_state(void) {
  STATE("vfork_run vfork_parent vfork_child control_spin");
  STATE("vfork_run vfork_parent *");
}
const struct Shape kVfork = {"vfork", vfork_state, vfork_run};
