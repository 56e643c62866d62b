// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

namespace firetower {
namespace {

TEST(ParseDurationNs, ReadsWhatGoReads) {
  EXPECT_EQ(*ParseDurationNs("0"), 0);
  EXPECT_EQ(*ParseDurationNs("90s"), 90'000'000'000);
  EXPECT_EQ(*ParseDurationNs("1h30m"), 5400'000'000'000);
  EXPECT_EQ(*ParseDurationNs("1.5s"), 1'500'000'000);
  EXPECT_EQ(*ParseDurationNs(".5s"), 500'000'000);
  EXPECT_EQ(*ParseDurationNs("250ms"), 250'000'000);
  EXPECT_EQ(*ParseDurationNs("3us"), 3000);
  EXPECT_EQ(*ParseDurationNs("3\u00b5s"), 3000);
  EXPECT_EQ(*ParseDurationNs("7ns"), 7);
}

TEST(ParseDurationNs, ReadsDays) {
  EXPECT_EQ(*ParseDurationNs("14d"), 14 * 86400 * int64_t{1'000'000'000});
  EXPECT_EQ(*ParseDurationNs("1.5d"), 36 * 3600 * int64_t{1'000'000'000});
  EXPECT_EQ(*ParseDurationNs("0.999999999d"), 86399999913600);
}

TEST(ParseDurationNs, RefusesTheRest) {
  for (const char* bad : {"", "5", "s", "-1s", "1x", "1s2", "1 s", "1..5s", ".s", "14D",
                          "99999999999999999999s", "999999999d", "0.1234567890s"}) {
    auto result = ParseDurationNs(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_NE(result.error().message().find("is not a duration"), std::string::npos);
  }
}

TEST(FormatDuration, ReadsBack) {
  for (const char* text : {"14d", "1h30m", "250ms", "1s500ms", "1d1h1m1s1ms1us1ns", "0s"}) {
    EXPECT_EQ(FormatDuration(*ParseDurationNs(text)), text);
  }
}

TEST(ParseBytes, ReadsKubernetesQuantities) {
  EXPECT_EQ(*ParseBytes("0"), 0);
  EXPECT_EQ(*ParseBytes("1000"), 1000);
  EXPECT_EQ(*ParseBytes("1k"), 1000);
  EXPECT_EQ(*ParseBytes("2Gi"), 2147483648);
  EXPECT_EQ(*ParseBytes("1.5Ki"), 1536);
  EXPECT_EQ(*ParseBytes("3M"), 3'000'000);
  EXPECT_EQ(*ParseBytes("1Pi"), 1125899906842624);
  EXPECT_EQ(*ParseBytes("0.1"), 1) << "a part of a byte is rounded up";
}

TEST(ParseBytes, RefusesTheRest) {
  for (const char* bad : {"", "Gi", "-1", "1 Gi", "1gi", "1KB", "1e3", "99999999999999Pi",
                          "9999999999999999999", "5Ei"}) {
    EXPECT_FALSE(ParseBytes(bad)) << bad;
  }
}

TEST(FormatBytes, ReadsBack) {
  for (const char* text : {"2Gi", "1536Ki", "1000", "1Pi", "0"}) {
    EXPECT_EQ(FormatBytes(*ParseBytes(text)), text);
  }
}

}  // namespace
}  // namespace firetower
