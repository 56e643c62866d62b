// SPDX-License-Identifier: Apache-2.0
// toy_deep [SECONDS [THREADS [FRAMES [KIB]]]]: THREADS threads burn CPU under FRAMES frames each,
// all with frame pointers: main → run → level_N … level_0 → leaf. Between two calls each walks KIB
// of memory of its own, as a program with data does: what a sampler touched last is then not in the
// nearest cache.
#include "tests/programs/toy.h"

enum {
  kMostThreads = 64,
  kStackBytes = 1 << 16,
  kMostBytes = 8 << 20,
  kLineBytes = 64,
  // CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM
  kThread = 0x50f00,
  kNamedFrames = 3,  // main, run and leaf
};

static char stacks[kMostThreads][kStackBytes] __attribute__((aligned(16)));
static char sets[kMostThreads][kMostBytes] __attribute__((aligned(4096)));
static int next_set;
static long levels, set_bytes;

TOY_FRAME long leaf(char *set) {
  SPIN(40000);
  long sum = 0;
  for (long at = 0; at < set_bytes; at += kLineBytes) sum += ++set[at];
  return sum;
}

#include "tests/programs/levels.h"

TOY_FRAME void run(void) {
  char *set = sets[__atomic_fetch_add(&next_set, 1, __ATOMIC_RELAXED)];
  for (;;) level_entries[levels - 1](set);
}

// The thread's outermost frame is its caller's: the chain of frame pointers ends at run.
static inline __attribute__((always_inline)) long Thread(void (*entry)(void), char *stack_end) {
  long result = SYS_clone;
  register long no_parent __asm__("r10") = 0;
  register long no_tls __asm__("r8") = 0;
  register void (*run_it)(void) __asm__("r9") = entry;
  __asm__ volatile(
      "  syscall\n"
      "  testq %%rax, %%rax\n"
      "  jnz 1f\n"
      "  xorl %%ebp, %%ebp\n"
      "  call *%%r9\n"
      "  hlt\n"
      "1:\n"
      : "+a"(result)
      : "D"(kThread), "S"(stack_end), "d"(0L), "r"(no_parent), "r"(no_tls), "r"(run_it)
      : "rcx", "r11", "memory");
  return result;
}

int main(int argc, char **argv, char **environment) {
  (void)environment;
  const long seconds = Argument(argc, argv, 1, 3600);
  const long threads = Argument(argc, argv, 2, 2);
  levels = Argument(argc, argv, 3, 19) - kNamedFrames;
  set_bytes = Argument(argc, argv, 4, 0) * 1024;
  if (threads > kMostThreads || set_bytes > kMostBytes || levels < 1 || levels > kMostLevels)
    return 2;
  for (long i = 0; i < threads; ++i) {
    if (Thread(run, stacks[i] + kStackBytes) < 0) return 1;
  }
  PrintNumber(1, (unsigned long)SYS0(SYS_getpid));
  Print(1, "\n");
  SleepUs(seconds * 1000000);
  return 0;
}
