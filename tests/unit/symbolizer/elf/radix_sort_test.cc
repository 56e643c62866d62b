// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace firetower::symbolizer {
namespace {

// Keys whose upper half is below `limit`, with their place in the lower half.
std::vector<uint64_t> RandomKeys(size_t count, uint64_t limit) {
  std::mt19937_64 random(20240229);
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(random() % limit << 32 | (count - i));
  return keys;
}

TEST(SortByUpperHalf, SortsAsAStableSortDoes) {
  for (uint64_t limit :
       {uint64_t{1}, uint64_t{40}, uint64_t{1} << 12, uint64_t{1} << 25, uint64_t{1} << 32}) {
    for (size_t count : {0u, 1u, 2u, 511u, 512u, 5'000u, 100'000u}) {
      std::vector<uint64_t> keys = RandomKeys(count, limit);
      std::vector<uint64_t> expected = keys;
      std::stable_sort(expected.begin(), expected.end(),
                       [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; });
      SortByUpperHalf(keys);
      EXPECT_EQ(keys, expected) << count << " below " << limit;
    }
  }
}

}  // namespace
}  // namespace firetower::symbolizer
