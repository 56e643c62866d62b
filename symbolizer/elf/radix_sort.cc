// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/radix_sort.h"

#include <algorithm>
#include <array>

namespace firetower::symbolizer {

namespace {

// Three passes for 32 bits, with counts that fit the first-level cache.
constexpr unsigned kDigitBits = 11;
constexpr unsigned kDigits = 3;
constexpr size_t kValues = size_t{1} << kDigitBits;
// Below that, looking at the counts costs more than comparing.
constexpr size_t kFewKeys = 512;

size_t Digit(uint64_t key, unsigned digit) {
  return static_cast<size_t>(key >> (32 + digit * kDigitBits)) & (kValues - 1);
}

}  // namespace

void SortByUpperHalf(std::vector<uint64_t>& keys) {
  if (keys.size() < kFewKeys) {
    std::stable_sort(keys.begin(), keys.end(),
                     [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; });
    return;
  }
  std::array<std::array<uint32_t, kValues>, kDigits> places{};
  for (uint64_t key : keys) {
    for (unsigned digit = 0; digit < kDigits; ++digit) ++places[digit][Digit(key, digit)];
  }
  std::vector<uint64_t> other(keys.size());
  for (unsigned digit = 0; digit < kDigits; ++digit) {
    std::array<uint32_t, kValues>& place = places[digit];
    if (place[Digit(keys.front(), digit)] == keys.size()) continue;  // the same in all
    uint32_t sum = 0;
    for (uint32_t& count : place) {
      const uint32_t here = sum;
      sum += count;
      count = here;
    }
    for (uint64_t key : keys) other[place[Digit(key, digit)]++] = key;
    keys.swap(other);
  }
}

}  // namespace firetower::symbolizer
