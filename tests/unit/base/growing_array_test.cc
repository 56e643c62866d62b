// SPDX-License-Identifier: Apache-2.0
#include "base/container/growing_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <random>
#include <utility>
#include <vector>

namespace firetower {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST(GrowingArray, HoldsWhatAVectorHolds) {
  GrowingArray<uint64_t> array;
  std::vector<uint64_t> model;
  std::mt19937_64 random(3);
  while (model.size() < 300'000) {
    if (random() % 2 == 0) {
      const uint64_t item = random();
      array.push_back(item);
      model.push_back(item);
    } else {
      std::vector<uint64_t> items(random() % 9);
      for (uint64_t& item : items) item = random();
      array.append(items);
      model.insert(model.end(), items.begin(), items.end());
    }
    if (random() % 100 == 0) array.reserve(random() % (2 * model.size() + 1));
    ASSERT_EQ(array.size(), model.size());
    ASSERT_GE(array.capacity(), array.size());
    ASSERT_EQ(array.back(), model.back());
  }
  EXPECT_THAT(array, ElementsAreArray(model));
}

TEST(GrowingArray, IsEmptyAtFirst) {
  GrowingArray<char> array;
  EXPECT_TRUE(array.empty());
  EXPECT_EQ(array.capacity(), 0u);
  array.append({});
  EXPECT_TRUE(array.empty());
  EXPECT_EQ(array.begin(), array.end());
}

TEST(GrowingArray, CopiesAreOfTheirOwn) {
  GrowingArray<int> array;
  for (int i = 0; i < 3; ++i) array.push_back(i);
  GrowingArray<int> copy = array;
  copy[1] = 7;
  copy.push_back(3);
  EXPECT_THAT(array, ElementsAre(0, 1, 2));
  EXPECT_THAT(copy, ElementsAre(0, 7, 2, 3));
  array = copy;
  EXPECT_THAT(array, ElementsAre(0, 7, 2, 3));
}

TEST(GrowingArray, WhatWasMovedAwayMayBeFilledAgain) {
  GrowingArray<int> array;
  array.push_back(1);
  GrowingArray<int> other = std::move(array);
  EXPECT_THAT(other, ElementsAre(1));
  array = GrowingArray<int>();
  array.push_back(2);
  EXPECT_THAT(array, ElementsAre(2));
}

TEST(GrowingArray, SaysThatThereIsNoMemoryAndStaysAsItWas) {
  GrowingArray<uint64_t> array;
  array.push_back(5);
  EXPECT_THROW(array.reserve(std::numeric_limits<size_t>::max() / 4), std::bad_alloc);
  EXPECT_THAT(array, ElementsAre(5u));
}

}  // namespace
}  // namespace firetower
