// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/radix_sort.h"

#include <algorithm>
#include <array>
#include <bit>

namespace firetower::symbolizer {

namespace {

// Counts that fit the first-level cache; a span of addresses below 64 MiB takes two passes.
constexpr unsigned kMaxDigitBits = 13;
constexpr unsigned kMaxDigits = (32 + kMaxDigitBits - 1) / kMaxDigitBits;
// Below that, looking at the counts costs more than comparing.
constexpr size_t kFewKeys = 512;

// How the upper half of a key is parted.
struct Digits {
  unsigned count;
  unsigned bits;

  size_t Of(uint64_t key, unsigned digit) const {
    return static_cast<size_t>(key >> (32 + digit * bits)) & ((size_t{1} << bits) - 1);
  }
};

Digits DigitsFor(const std::vector<uint64_t>& keys) {
  uint64_t all = 0;
  for (uint64_t key : keys) all |= key;
  const auto bits = static_cast<unsigned>(std::bit_width(all >> 32));
  const unsigned count = std::max(1u, (bits + kMaxDigitBits - 1) / kMaxDigitBits);
  return {count, std::max(1u, (bits + count - 1) / count)};
}

}  // namespace

void SortByUpperHalf(std::vector<uint64_t>& keys) {
  if (keys.size() < kFewKeys) {
    std::stable_sort(keys.begin(), keys.end(),
                     [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; });
    return;
  }
  const Digits digits = DigitsFor(keys);
  std::array<std::array<uint32_t, size_t{1} << kMaxDigitBits>, kMaxDigits> places;
  for (unsigned digit = 0; digit < digits.count; ++digit) places[digit].fill(0);
  for (uint64_t key : keys) {
    for (unsigned digit = 0; digit < digits.count; ++digit) ++places[digit][digits.Of(key, digit)];
  }
  std::vector<uint64_t> other(keys.size());
  for (unsigned digit = 0; digit < digits.count; ++digit) {
    auto& place = places[digit];
    if (place[digits.Of(keys.front(), digit)] == keys.size()) continue;  // the same in all
    uint32_t sum = 0;
    for (uint32_t& count : place) {
      const uint32_t here = sum;
      sum += count;
      count = here;
    }
    for (uint64_t key : keys) other[place[digits.Of(key, digit)]++] = key;
    keys.swap(other);
  }
}

}  // namespace firetower::symbolizer
