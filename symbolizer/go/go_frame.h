// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbolizer/cfi/unwind_row.h"

namespace firetower::symbolizer {

// The way in which a Go function uses the stack, beside its depth. All compiled functions are
// kPlain; the others are assembly of the runtime.
enum class GoStackUse : uint8_t {
  kPlain,
  // Has no caller: runtime.goexit under a goroutine, runtime.mstart and rt0_go under a thread.
  kRoot,
  // Switches to the thread's own stack and calls a function there that never returns: mcall,
  // morestack. The thread's stack begins here, as it does in the runtime's own tracebacks.
  kLeaves,
  // Calls a function on another stack and comes back: systemstack, asmcgocall, cgocallback, and the
  // callers of the vdso. RBP is kept, so the walk continues on the first stack.
  kBorrows,
  // Sets the stack pointer in a way that no table describes.
  kUnknown,
  // Signal handlers return to this function, and the kernel's frame is on the stack.
  kSignalReturn,
};

struct GoFrame {
  GoStackUse use = GoStackUse::kPlain;
  // This function interrupted its caller, which made no call: the return address is the instruction
  // that runs next.
  bool interrupts = false;
  // From this address on the caller's RBP is stored below the return address, as long as there is a
  // frame.
  uint64_t rbp_saved_elf_vaddr = UINT64_MAX;
  // From this address on RBP points at the stored RBP.
  uint64_t rbp_set_elf_vaddr = UINT64_MAX;
  // After each of these instructions the stack pointer is on another stack.
  std::vector<uint64_t> switches_elf_vaddr;
};

// Classifies a function by its name and flags. The names have been the same since Go 1.16.
GoFrame ClassifyGoFunction(std::string_view name, uint8_t flags);

// Finds the instruction that saves RBP. It is at the first change of the stack's depth, from 0 to
// `depth` bytes, directly before `elf_vaddr`. `code` begins one byte before `elf_vaddr`.
void FindGoFramePointer(std::span<const std::byte> code, uint64_t elf_vaddr, int32_t depth,
                        GoFrame& frame);

// Finds the moves into RSP in the code of a function.
void FindStackSwitches(std::span<const std::byte> code, uint64_t elf_vaddr, GoFrame& frame);

// Returns the rule for an address at which the stack is `depth` bytes deep.
UnwindRule GoRuleAt(const GoFrame& frame, uint64_t elf_vaddr, int32_t depth);

}  // namespace firetower::symbolizer
