// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs that say which stacks they can have: built with the compilers' optimisations and without
// frame pointers, and judged by tests/e2e/truth_test.py.
//
// A statement is a line `stack NAME…`, the outermost frame first. Legal are that stack and every
// leading part of it, for a function's callee may not be called yet. `.` is one frame and `*` any
// number of frames of functions that no statement names: the C library's, the dynamic linker's.
// NAME{N} is N frames of it. A line `unsaid NAME` says that nobody can know the stack while NAME is
// the innermost function.

#include <stdio.h>

// A frame of its own under a name of its own, whatever the optimizer thinks.
#define FRAME __attribute__((noipa))

// How the C library calls main: _start, and in glibc 2.34 and later __libc_start_main and
// __libc_start_call_main. musl has no call frame information, so nobody can say what is above.
#ifdef __GLIBC__
#define ROOT "_start . . main"
#else
#define ROOT "* main"
#endif

// Shape of stacks: it states them, then burns CPU for some ten milliseconds a
// call.
struct Shape {
  const char *name;
  void (*state)(void);
  void (*run)(void);
};

extern const struct Shape kChain, kAlloca, kRealigned, kTail, kDeep, kSignal, kVfork, kPlt, kLazy,
    kDlopen, kJit, kOpenssl;

#define STATE(line) puts("stack " ROOT " " line)
