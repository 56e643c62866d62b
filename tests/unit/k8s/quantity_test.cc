// SPDX-License-Identifier: Apache-2.0
// Values from Kubernetes' resource.Quantity: exact, rounded up below a billionth.
#include "k8s/document/quantity.h"

#include <gtest/gtest.h>

#include <limits>

#include "k8s/document/pattern.h"

namespace firetower::k8s {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Quantity, IsExact) {
  const struct {
    const char* text;
    int64_t units;
    int32_t nanos;
  } rows[] = {
      {"0", 0, 0},
      {"1", 1, 0},
      {"007", 7, 0},
      {"50m", 0, 50000000},
      {"1500m", 1, 500000000},
      {"1.5", 1, 500000000},
      {"0.1", 0, 100000000},
      {"1.5m", 0, 1500000},
      {"0.000001m", 0, 1},
      {"1k", 1000, 0},
      {"1.5k", 1500, 0},
      {"0.0001k", 0, 100000000},
      {"2M", 2000000, 0},
      {"3G", 3000000000, 0},
      {"4T", 4000000000000, 0},
      {"1Ki", 1024, 0},
      {"1.5Ki", 1536, 0},
      {"0.1Ki", 102, 400000000},
      {"1Mi", 1048576, 0},
      {"1Gi", 1073741824, 0},
      {"1.5Gi", 1610612736, 0},
      {"1Ti", 1099511627776, 0},
      {"8388607Ti", 9223370937343148032, 0},
      {"0.0000000001Ti", 109, 951162778},          // 109.9511627776 rounded up
      {"0.0000000000000000000000000001Ti", 0, 1},  // below a billionth
      {"0.9999999999", 1, 0},
      {"9223372036854775807", kMax, 0},
  };
  for (const auto& row : rows) {
    Result<Quantity> parsed = ParseQuantity(row.text);
    ASSERT_TRUE(parsed) << row.text;
    EXPECT_EQ(parsed->units, row.units) << row.text;
    EXPECT_EQ(parsed->nanos, row.nanos) << row.text;
  }
}

TEST(Quantity, RefusesWhatThePatternRefuses) {
  for (const std::string& text :
       {std::string(), std::string("m"), std::string("1Q"), std::string("1 "), std::string(" 1"),
        std::string("-1"), std::string("+1"), std::string("1."), std::string(".5"),
        std::string("1e3"), std::string("1ki"), std::string("1K"), std::string("1n"),
        std::string("1mm"), std::string("1Pi"), std::string("1,5"), std::string("0x1"),
        std::string("1\n"), std::string(33, '1')}) {
    Result<Quantity> parsed = ParseQuantity(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalid) << text;
    EXPECT_TRUE(text.size() > kMaxQuantityBytes || !MatchesPattern(kQuantityPattern, text)) << text;
  }
}

TEST(Quantity, RefusesWhatDoesNotFit) {
  for (const char* text :
       {"9223372036854775808", "99999999999999999999999999999999", "8388608Ti",
        "9223372036854775807.9999999999", "9223372036854775807k", "99999999999999999999m"}) {
    Result<Quantity> parsed = ParseQuantity(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kExhausted) << text;
  }
}

TEST(Quantity, RoundsUpLikeUpstream) {
  EXPECT_EQ(ParseQuantity("50m")->MilliRoundedUp(), 50);
  EXPECT_EQ(ParseQuantity("0.0001")->MilliRoundedUp(), 1);
  EXPECT_EQ(ParseQuantity("1Gi")->MilliRoundedUp(), 1073741824000);
  EXPECT_EQ(ParseQuantity("1.1")->RoundedUp(), 2);
  EXPECT_EQ(ParseQuantity("9223372036854775807")->MilliRoundedUp(), kMax);
  EXPECT_EQ(ParseQuantity("9223372036854775807")->RoundedUp(), kMax);
}

TEST(Quantity, OrdersByValue) {
  EXPECT_LT(*ParseQuantity("999m"), *ParseQuantity("1"));
  EXPECT_EQ(*ParseQuantity("1024"), *ParseQuantity("1Ki"));
  EXPECT_GT(*ParseQuantity("0.1"), *ParseQuantity("0"));
}

}  // namespace
}  // namespace firetower::k8s
