// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace firetower {
namespace {

constexpr std::array<std::string_view, 4> kNames{"listen", "log-level", "log-format", "store"};

TEST(Suggest, FindsTheNearestSpelling) {
  EXPECT_EQ(NearestName("lisen", kNames), "listen");
  EXPECT_EQ(NearestName("log-leve", kNames), "log-level");
  EXPECT_EQ(NearestName("stroe", kNames), "") << "two changes in five letters are too many";
  EXPECT_EQ(NearestName("sttore", kNames), "store");
}

TEST(Suggest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(NearestName("frequency", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NearestName(std::string(4096, 'l'), kNames), "");
  EXPECT_EQ(DidYouMean("frequency", kNames), "");
}

TEST(Suggest, MakesTheTailOfAMessage) {
  EXPECT_EQ(DidYouMean("lisen", kNames), "; did you mean 'listen'?");
}

}  // namespace
}  // namespace firetower
