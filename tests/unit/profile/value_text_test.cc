// SPDX-License-Identifier: Apache-2.0
#include "profile/value_text.h"

#include <gtest/gtest.h>

namespace firetower::profile {
namespace {

TEST(FormatValue, KnowsItsUnits) {
  EXPECT_EQ(FormatValue(12'345'678'901, "nanoseconds"), "12.3s");
  EXPECT_EQ(FormatValue(90e9, "nanoseconds"), "1.5m");
  EXPECT_EQ(FormatValue(7, "nanoseconds"), "7ns");
  EXPECT_EQ(FormatValue(4'194'304, "bytes"), "4.0 MiB");
  EXPECT_EQ(FormatValue(1023, "bytes"), "1023 B");
  EXPECT_EQ(FormatValue(1'234.4, "count"), "1,234");
  EXPECT_EQ(FormatValue(1e20, "count"), "1e+20");
}

TEST(FormatValue, GoesByWhatIsShown) {
  EXPECT_EQ(FormatValue(999'949'999, "nanoseconds"), "999.9ms");
  EXPECT_EQ(FormatValue(999'960'000, "nanoseconds"), "1.0s");
  EXPECT_EQ(FormatValue(-999'960'000, "nanoseconds"), "-1.0s");
  EXPECT_EQ(FormatValue(59.96e9, "nanoseconds"), "1.0m");
  EXPECT_EQ(FormatValue(999.4, "nanoseconds"), "999ns");
  EXPECT_EQ(FormatValue(999.6, "nanoseconds"), "1.0us");
  EXPECT_EQ(FormatValue(1'048'570, "bytes"), "1.0 MiB");
  EXPECT_EQ(FormatValue(0, "bytes"), "0 B");
}

TEST(FormatCount, GroupsThousands) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(-1'234'567), "-1,234,567");
}

}  // namespace
}  // namespace firetower::profile
