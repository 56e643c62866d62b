// SPDX-License-Identifier: Apache-2.0
#include "base/container/spsc_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace firetower {
namespace {

TEST(SpscQueue, RefusesAndCountsWhenFull) {
  SpscQueue<int> queue(2);
  EXPECT_TRUE(queue.TryPush(1));
  EXPECT_TRUE(queue.TryPush(2));
  EXPECT_FALSE(queue.TryPush(3));
  EXPECT_EQ(queue.dropped(), 1u);
  EXPECT_EQ(queue.TryPop(), 1);
  EXPECT_TRUE(queue.TryPush(4));
  EXPECT_EQ(queue.TryPop(), 2);
  EXPECT_EQ(queue.TryPop(), 4);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
}

TEST(SpscQueue, HandsEveryItemOverInOrderBetweenTwoThreads) {
  constexpr int kItems = 200'000;
  SpscQueue<int> queue(64);
  std::thread producer([&] {
    for (int i = 0; i < kItems;) {
      if (queue.TryPush(int{i})) ++i;
    }
  });
  for (int expected = 0; expected < kItems;) {
    auto item = queue.TryPop();
    if (!item) continue;
    ASSERT_EQ(*item, expected);
    ++expected;
  }
  producer.join();
}

}  // namespace
}  // namespace firetower
