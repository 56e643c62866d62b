// SPDX-License-Identifier: Apache-2.0
#include "base/container/set_once.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace firetower {
namespace {

TEST(SetOnce, KeepsTheFirstValue) {
  SetOnce<std::string> value;
  EXPECT_EQ(value.Get(), nullptr);
  EXPECT_EQ(value.Set("one"), "one");
  EXPECT_EQ(value.Set("two"), "one");
  EXPECT_EQ(*value.Get(), "one");
}

TEST(SetOnce, GivesEveryThreadTheSameValue) {
  SetOnce<int> value;
  std::vector<int> seen(4);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { seen[i] = value.Set(i); });
  threads.clear();
  for (const int each : seen) EXPECT_EQ(each, *value.Get());
}

}  // namespace
}  // namespace firetower
