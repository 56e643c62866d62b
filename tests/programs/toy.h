// SPDX-License-Identifier: Apache-2.0
#pragma once

// Base of every toy: raw system calls and a start that ends the frame-pointer chain.
//
// Without TOY_LIBC a toy has no C library, so its stack is known to the last frame: _start, main
// and what main calls. With it the same source starts in glibc, which keeps no frame pointers:
// only the frames from main on are known then.

#include <linux/time_types.h>
#include <stddef.h>
#include <sys/syscall.h>

// A frame of its own under a name of its own, whatever the optimizer thinks.
#define TOY_FRAME __attribute__((noinline, noclone, used, externally_visible))

#ifndef TOY_LIBC
__asm__(
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  xorl %ebp, %ebp\n"  // The x86-64 ABI's mark of the outermost frame.
    "  movq (%rsp), %rdi\n"
    "  leaq 8(%rsp), %rsi\n"
    "  leaq 16(%rsp,%rdi,8), %rdx\n"
    "  andq $-16, %rsp\n"
    "  call main\n"
    "  movl %eax, %edi\n"
    "  movl $231, %eax\n"  // exit_group
    "  syscall\n"
    "  hlt\n"
    ".size _start, . - _start\n");
#endif

int main(int argc, char **argv, char **environment);

static inline long Syscall(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#define SYS0(n) Syscall(n, 0, 0, 0, 0, 0, 0)
#define SYS1(n, a) Syscall(n, (long)(a), 0, 0, 0, 0, 0)
#define SYS2(n, a, b) Syscall(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS3(n, a, b, c) Syscall(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS4(n, a, b, c, d) Syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

enum { kToyMonotonic = 1, kToyThreadCpu = 3, kToyReadOnly = 0, kToyCreate = 01101 };

static inline long ClockNs(int clock) {
  struct __kernel_timespec now = {0, 0};
  SYS2(SYS_clock_gettime, clock, &now);
  return (long)(now.tv_sec * 1000000000 + now.tv_nsec);
}

static inline void SleepUs(long us) {
  struct __kernel_timespec wait = {us / 1000000, us % 1000000 * 1000};
  SYS2(SYS_nanosleep, &wait, 0);
}

static inline long Number(const char *text) {
  long value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  return value;
}

static inline void Print(int fd, const char *text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  SYS3(SYS_write, fd, text, length);
}

// Writes `value` into the end of `buffer` and returns where it begins.
static inline char *Format(char buffer[24], unsigned long value, unsigned base) {
  char *at = buffer + 23;
  *at = 0;
  do {
    *--at = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  return at;
}

static inline void PrintNumber(int fd, unsigned long value) {
  char buffer[24];
  Print(fd, Format(buffer, value, 10));
}

static inline long Argument(int argc, char **argv, int index, long otherwise) {
  return argc > index ? Number(argv[index]) : otherwise;
}

// Burns CPU in the caller's own frame; a round is about a nanosecond on bare metal. Asking for the
// frame's address makes gcc set one up: it leaves it out of leaf functions whatever the flags say.
#define SPIN(rounds)                                              \
  do {                                                            \
    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));     \
    for (long spin_left = (rounds); spin_left > 0; --spin_left) { \
      __asm__ volatile("" : "+r"(spin_left));                     \
    }                                                             \
  } while (0)
