// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace firetower {

inline constexpr uint64_t kHashSeed = 0x243f6a8885a308d3;

// One step of a 64-bit hash over words: multiply and fold. For tables, not against adversaries.
constexpr uint64_t HashWord(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

}  // namespace firetower
