// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace firetower {

inline constexpr uint64_t kHashSeed = 0x243f6a8885a308d3;

// Does one step of a 64-bit hash over words: multiply and fold. Good for hash tables, but no
// protection against chosen keys.
constexpr uint64_t HashWord(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

// Hashes text. `hash` is the hash of the bytes before it.
constexpr uint64_t HashText(std::string_view text, uint64_t hash = kHashSeed) {
  for (const char c : text) hash = HashWord(hash, static_cast<unsigned char>(c));
  return hash;
}

// Hashes many bytes at once, sixteen in each step.
inline uint64_t HashBytes(std::string_view bytes) {
  __extension__ typedef unsigned __int128 Uint128;
  auto mix = [](uint64_t a, uint64_t b) {
    const Uint128 product = Uint128{a} * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  auto load = [](const char* at, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, at, size);
    return word;
  };
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15;
  constexpr uint64_t kSecond = 0xff51afd7ed558ccd;
  const char* at = bytes.data();
  size_t left = bytes.size();
  uint64_t hash = kHashSeed ^ left;
  for (; left > 16; left -= 16, at += 16) hash = mix(load(at, 8) ^ kFirst, load(at + 8, 8) ^ hash);
  // The last 1 to 16 bytes, some of them twice.
  uint64_t a = 0;
  uint64_t b = 0;
  if (left >= 8) {
    a = load(at, 8);
    b = load(at + left - 8, 8);
  } else if (left >= 4) {
    a = load(at, 4);
    b = load(at + left - 4, 4);
  } else if (left > 0) {
    a = load(at, 1);
    b = load(at + left / 2, 1) << 8 | load(at + left - 1, 1);
  }
  return mix(a ^ kSecond, b ^ hash);
}

}  // namespace firetower
