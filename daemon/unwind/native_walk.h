// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/abi/hotspot.h"
#include "bpf/abi/v8.h"
#include "bpf/walk/walk_state.h"
#include "daemon/runtimes/remote_memory.h"

namespace firetower::daemon {

// The memory that a walk in user space reads, in place of the kernel's maps and a live process.
// Views: valid during the walk.
struct WalkMemory {
  const std::byte* arena = nullptr;
  uint64_t arena_bytes = 0;
  const ft_module* modules = nullptr;  // [FT_MAX_MODULES]
  uint64_t stack_begin = 0;            // address of stack[0]
  std::span<const std::byte> stack;
  std::span<const uint8_t> absent;      // not 0: that page from stack[0]'s on is not in `stack`
  uint64_t stack_start = 0;             // the process's first word of stack; 0: not known
  std::span<const uint64_t> registers;  // as in ft_cold; may be empty
  uint64_t entry = 0;                   // as in ft_cold
  const ft_hotspot* hotspot = nullptr;  // of a process that runs HotSpot …
  const ft_v8* v8 = nullptr;            // … or V8 …
  const ft_machine* php = nullptr;      // … or code of PHP's compiler …
  const RemoteMemory* far = nullptr;    // … and its memory besides stacks
};

// Continues a walk, step by step, with bpf/walk/unwind.h, the same code that the kernel side runs.
// Appends each caller's address to `addresses` in the form of bpf/abi/record.h, at most
// `max_frames` of them, and FT_WORD_JOIN behind the frame that has the entry record. The last
// address already there belongs to the frame at which `walk` stands; if that frame turns out to be
// a signal's, the address is corrected; one of HotSpot's or of JavaScript becomes the words of
// it. Returns enum
// ft_step of the last step: FT_STEP_ENDED with walk.stop set, or FT_STEP_COLD if a table is still
// missing; the walk then stands at that frame.
int WalkOn(const WalkMemory& memory, ft_walk& walk, size_t max_frames,
           std::vector<uint64_t>& addresses);

}  // namespace firetower::daemon
