// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace firetower::daemon {

// Reasons why a frame of a process has no function's name. Frames of the kernel are not among them:
// the check `kallsyms` is about those.
enum class NameLoss : uint8_t {
  kGone,  // Unread::kGone, and so on
  kDenied,
  kNotFound,
  kNotElf,
  kNotYet,    // the file waits to be read, or its symbols were evicted
  kNoSymbol,  // the file was read and has no symbol there
  kMemory,    // code that a runtime wrote to memory, and no perf-map has it
  kUnmapped,  // no known mapping of the process has the address
};
inline constexpr size_t kNameLosses = 8;

// Names of one window's frames, for `doctor`. Frames count as often as they are looked up, once a
// slice and profile; late names are not taken off.
struct NameFacts {
  struct Loss {
    uint64_t frames = 0;
    // Files that stacks showed lately and that this reason holds for; of kGone to kNotElf and of
    // kNoSymbol alone.
    uint64_t files = 0;
    std::string example = {};  // the path of one; of kNoSymbol the one with most frames
  };
  uint64_t frames = 0;  // with a name or without, the kernel's too
  std::array<Loss, kNameLosses> losses = {};
};

}  // namespace firetower::daemon
