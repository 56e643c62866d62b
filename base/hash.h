// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace firetower {

inline constexpr uint64_t kHashSeed = 0x243f6a8885a308d3;

// One step of a 64-bit hash over words: multiply and fold. For tables, not against adversaries.
constexpr uint64_t HashWord(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

// Of bytes; `hash` is what came before them.
constexpr uint64_t HashText(std::string_view text, uint64_t hash = kHashSeed) {
  for (const char c : text) hash = HashWord(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace firetower
