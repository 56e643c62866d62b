// SPDX-License-Identifier: Apache-2.0
#include "query/time_range.h"

#include <gtest/gtest.h>

namespace firetower::query {
namespace {

// `date -u -d 2026-07-01T10:00:00Z +%s` = 1782900000.
constexpr int64_t kTen = 1782900000 * kNsPerSecond;
constexpr int64_t kNow = kTen + 5 * kNsPerSecond;

TEST(ParseTime, ReadsEveryForm) {
  struct Row {
    const char* text;
    int64_t ns;
  } rows[] = {
      {"2026-07-01T10:00:00Z", kTen},
      {"2026-07-01t12:00:00+02:00", kTen},
      {"2026-07-01T04:30:00-05:30", kTen},
      {"2026-07-01 10:00:00.25Z", kTen + 250 * kNsPerMs},
      {"2026-07-01T10:00:00.123456789Z", kTen + 123456789},
      {"2024-02-29T00:00:00Z", 1709164800 * kNsPerSecond},
      {"1782900000", kTen},
      {"1782900000000", kTen},
      {"1782900000000000", kTen},
      {"1782900000000000000", kTen},
      {"0", 0},
      {"now", kNow},
      {"now-1h", kNow - 3600 * kNsPerSecond},
      {"now-1h30m", kNow - 5400 * kNsPerSecond},
      {"15m", kNow - 900 * kNsPerSecond},
      {"15m ago", kNow - 900 * kNsPerSecond},
      {"1.5s", kNow - 1500 * kNsPerMs},
  };
  for (const Row& row : rows) {
    auto ns = ParseTime(row.text, kNow);
    ASSERT_TRUE(ns) << row.text << ": " << ns.error().message();
    EXPECT_EQ(*ns, row.ns) << row.text;
  }
}

TEST(ParseTime, RefusesWhatIsNoTimeAndShowsTheForms) {
  for (const char* text : {"",
                           " ",
                           "noon",
                           "now-",
                           "now+1h",
                           "now1h",
                           "nowish",
                           "-5m",
                           "2026-02-30T00:00:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-07-01T25:00:00Z",
                           "2026-07-01T10:00:00",
                           "2026-07-01",
                           "2026-07-01T10:00:00Zx",
                           "2026-07-01T10:00:00.Z",
                           "2026-07-01T10:00:00+2:00",
                           "99999999999999999999",
                           "9999999999999999999",
                           "15",
                           "15x",
                           "2026-07-01T10:00:00.1234567890Z"}) {
    if (std::string_view(text) == "15") continue;  // an epoch in seconds
    auto ns = ParseTime(text, kNow);
    ASSERT_FALSE(ns) << text;
    EXPECT_NE(ns.error().message().find("now-1h"), std::string::npos) << ns.error().message();
  }
}

TEST(ParseTime, FailsOnNoPrefixOfAnRfc3339Time) {
  std::string text = "2026-07-01T10:00:00.5+02:00";
  // A shorter prefix is a year, which reads as an epoch, or an error. It is never a time that was
  // not meant.
  for (size_t n = 5; n < text.size(); ++n) EXPECT_FALSE(ParseTime(text.substr(0, n), kNow)) << n;
}

TEST(ParseTimeRange, DefaultsToTheLastFifteenMinutes) {
  auto range = ParseTimeRange("", "", kNow);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->to_ns, kNow);
  EXPECT_EQ(range->from_ns, kNow - 900 * kNsPerSecond);
  auto until = ParseTimeRange("", "now-1h", kNow);
  ASSERT_TRUE(until);
  EXPECT_EQ(until->to_ns - until->from_ns, 900 * kNsPerSecond);
}

TEST(ParseTimeRange, RefusesAnEmptyOrBackwardRange) {
  for (const char* from : {"now", "now-1m", "2030-01-01T00:00:00Z"}) {
    auto range = ParseTimeRange(from, "now-1m", kNow);
    ASSERT_FALSE(range) << from;
    EXPECT_NE(range.error().message().find("not before"), std::string::npos);
  }
  auto bad = ParseTimeRange("noon", "", kNow);
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message().starts_with("from: 'noon'"));
}

TEST(FormatTimeUtc, IsReadBack) {
  EXPECT_EQ(FormatTimeUtc(kTen), "2026-07-01T10:00:00Z");
  EXPECT_EQ(FormatTimeUtc(kTen + 25 * kNsPerMs), "2026-07-01T10:00:00.025Z");
  EXPECT_EQ(FormatTimeUtc(-kNsPerSecond), "1969-12-31T23:59:59Z");
  EXPECT_EQ(ParseTime(FormatTimeUtc(kTen), kNow).value(), kTen);
}

}  // namespace
}  // namespace firetower::query
