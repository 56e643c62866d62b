// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbolizer/cfi/unwind_row.h"

namespace firetower::symbolizer {

// How a Go function treats the stack, beside how deep it is. The compiler's functions are all
// kPlain; the others are the runtime's assembly.
enum class GoStackUse : uint8_t {
  kPlain,
  // Nobody called it: runtime.goexit under a goroutine, runtime.mstart and rt0_go under a thread.
  kRoot,
  // Goes to the thread's own stack and calls something there that never comes back: mcall,
  // morestack. The thread's stack begins here, as it does for the runtime's own tracebacks.
  kLeaves,
  // Calls something on another stack and comes back: systemstack, asmcgocall, cgocallback, the
  // callers of the vdso. Meanwhile RBP stays, so the walk goes on where it came from.
  kBorrows,
  // Sets the stack pointer in a way that nothing tells of.
  kUnknown,
  // Where a signal handler returns to: the kernel's frame is on the stack.
  kSignalReturn,
};

struct GoFrame {
  GoStackUse use = GoStackUse::kPlain;
  // Its caller was interrupted and did not call it: the return address is where it goes on.
  bool interrupts = false;
  // From here on the caller's RBP lies below the return address, while there is a frame.
  uint64_t rbp_saved_elf_vaddr = UINT64_MAX;
  // From here on RBP points at it.
  uint64_t rbp_set_elf_vaddr = UINT64_MAX;
  // Behind these instructions the stack pointer is another one.
  std::vector<uint64_t> switches_elf_vaddr;
};

// What the name and the flags of a function tell. The names have been the same since Go 1.16.
GoFrame ClassifyGoFunction(std::string_view name, uint8_t flags);

// Finds where RBP is saved, at the first change of the stack's depth, from 0 to `depth` bytes,
// which is in front of `elf_vaddr`. `code` is from the byte before it on.
void FindGoFramePointer(std::span<const std::byte> code, uint64_t elf_vaddr, int32_t depth,
                        GoFrame& frame);

// Finds the moves into RSP in the code of a function.
void FindStackSwitches(std::span<const std::byte> code, uint64_t elf_vaddr, GoFrame& frame);

// The rule at an address where the stack is `depth` bytes deep.
UnwindRule GoRuleAt(const GoFrame& frame, uint64_t elf_vaddr, int32_t depth);

}  // namespace firetower::symbolizer
