// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/string_pool.h"

#include <gtest/gtest.h>

namespace firetower::symbolizer {
namespace {

TEST(StringPool, KeepsEachContentOnceThroughGrowth) {
  StringPool pool(1 << 20);
  std::vector<uint32_t> offsets;
  for (int i = 0; i < 5000; ++i) offsets.push_back(pool.Add("name" + std::to_string(i)).value());
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(pool.Add("name" + std::to_string(i)), offsets[static_cast<size_t>(i)]);
    EXPECT_EQ(pool.Get(offsets[static_cast<size_t>(i)]), "name" + std::to_string(i));
  }
  std::string blob = pool.Take();
  EXPECT_EQ(std::string(blob.c_str() + offsets[4999]), "name4999");
  EXPECT_EQ(pool.Add("again"), 0u);
}

TEST(StringPool, RefusesWhatDoesNotFit) {
  StringPool pool(10);
  EXPECT_TRUE(pool.Add("12345"));
  EXPECT_FALSE(pool.Add("6789"));
  EXPECT_TRUE(pool.Add("678"));
  EXPECT_FALSE(pool.Add(""));
  EXPECT_TRUE(pool.Add("12345"));
}

TEST(StringPool, CutsAtAnEmbeddedNul) {
  StringPool pool(100);
  EXPECT_EQ(pool.Add(std::string_view("ab\0cd", 5)), pool.Add("ab"));
}

}  // namespace
}  // namespace firetower::symbolizer
