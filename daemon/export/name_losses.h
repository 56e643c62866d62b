// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace firetower::daemon {

// Reasons why a frame of a process has no function name. Frames of the kernel are not included: the
// check `kallsyms` covers them.
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

// Counts of the names of one window's frames, for `doctor`. A frame counts at each look-up, once
// per slice and profile. Names that come late do not reduce the counts.
struct NameFacts {
  struct Loss {
    uint64_t frames = 0;
    // The number of recently seen files with this reason; only for kGone to kNotElf and for
    // kNoSymbol.
    uint64_t files = 0;
    std::string example = {};  // the path of one; of kNoSymbol the one with most frames
  };
  uint64_t frames = 0;  // with a name or without, the kernel's too
  std::array<Loss, kNameLosses> losses = {};
};

}  // namespace firetower::daemon
