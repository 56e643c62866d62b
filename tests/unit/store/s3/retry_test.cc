// SPDX-License-Identifier: Apache-2.0
#include "store/s3/http/retry.h"

#include <gtest/gtest.h>

#include "store/s3/http/date.h"

namespace firetower::store::s3 {
namespace {

TEST(Date, ReadsWhatServersSend) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);  // RFC 9110 §5.6.7
  EXPECT_EQ(ParseHttpDate("Thu, 29 Feb 2024 00:00:00 GMT"), 1709164800);
  for (const char* bad : {"", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 2024 00:00:00 GMT",
                          "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
                          "Sun, 06 Nov 1994 -1:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                          "Fri, 31 Dec 9999 23:59:59 GMT"}) {
    EXPECT_FALSE(ParseHttpDate(bad)) << bad;
  }
}

// 09:00:00 UTC is 32,400 s after midnight; answers are said to take from ..:00.2 to ..:01.5 of
// ours.
TEST(Date, TellsOfASkewOnlyWhatAnAnswersTimeAllows) {
  const int64_t sent_ns = 32'400'200 * kNsPerMs;
  const int64_t answered_ns = 32'401'500 * kNsPerMs;
  // It may have been right: at ..:00.9, say, or at ..:01.2.
  EXPECT_EQ(SmallestSkew(32'400, sent_ns, answered_ns), 0);
  EXPECT_EQ(SmallestSkew(32'401, sent_ns, answered_ns), 0);
  // It said ..:02 at ..:01.5 at the latest, and was at ..:00 at most at ..:00.2 at the earliest.
  EXPECT_EQ(SmallestSkew(32'402, sent_ns, answered_ns), 500 * kNsPerMs);
  EXPECT_EQ(SmallestSkew(32'399, sent_ns, answered_ns), -200 * kNsPerMs);
  EXPECT_EQ(SmallestSkew(32'400 + 3600, sent_ns, answered_ns), 3'598'500 * kNsPerMs);
  // An answer that took a minute says little.
  EXPECT_EQ(SmallestSkew(32'400, sent_ns, sent_ns + 60 * kNsPerSecond), 0);
  // Ours was set back by an hour meanwhile.
  EXPECT_EQ(SmallestSkew(32'400, sent_ns, sent_ns - 3600 * kNsPerSecond), 0);
}

TEST(Date, ReadsIsoTimes) {
  EXPECT_EQ(ParseIsoTime("2014-10-24T23:00:23Z"), 1414191623);
  EXPECT_EQ(ParseIsoTime("2010-11-10T20:48:33.000Z"), 1289422113);
  for (const char* bad : {"", "2014-10-24 23:00:23Z", "2014-10-24T23:00:23", "2014-13-24T23:00:23Z",
                          "2014-10-24T23:00:23+01:00", "2014-10-24T23:00:23.xZ"}) {
    EXPECT_FALSE(ParseIsoTime(bad)) << bad;
  }
}

TEST(RetryAfter, IsSecondsOrADate) {
  const int64_t now_ns = 784111777 * kNsPerSecond;
  EXPECT_EQ(ParseRetryAfterNs("120", now_ns), 120 * kNsPerSecond);
  EXPECT_EQ(ParseRetryAfterNs("Sun, 06 Nov 1994 08:50:07 GMT", now_ns), 30 * kNsPerSecond);
  EXPECT_EQ(ParseRetryAfterNs("Sun, 06 Nov 1994 08:00:00 GMT", now_ns), 0);
  EXPECT_EQ(ParseRetryAfterNs("999999999999", now_ns), 7 * 86'400 * kNsPerSecond);
  for (const char* bad : {"", "-1", "1.5", "soon"}) EXPECT_FALSE(ParseRetryAfterNs(bad, now_ns));
}

TEST(Backoff, DoublesUpToItsCapWithFullJitter) {
  const RetryPolicy policy;
  EXPECT_EQ(BackoffNs(policy, 1, 0.0), 0);
  EXPECT_EQ(BackoffNs(policy, 1, 0.5), 50 * kNsPerMs);
  EXPECT_EQ(BackoffNs(policy, 4, 0.5), 400 * kNsPerMs);
  EXPECT_EQ(BackoffNs(policy, 9, 0.5), 10 * kNsPerSecond);
  EXPECT_EQ(BackoffNs(policy, 1000, 0.5), 10 * kNsPerSecond);
}

TEST(Retry, KnowsWhatMayGoThroughLater) {
  for (int status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(IsRetryable(status, "")) << status;
  for (int status : {200, 301, 400, 401, 403, 404, 409, 412, 416, 501, 507}) {
    EXPECT_FALSE(IsRetryable(status, "")) << status;
  }
  for (const char* code : {"SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable"}) {
    EXPECT_TRUE(IsRetryable(400, code)) << code;
  }
  for (const char* code : {"AccessDenied", "ExpiredToken", "SignatureDoesNotMatch"}) {
    EXPECT_FALSE(IsRetryable(403, code)) << code;
  }
}

TEST(RetryBudget, IsUsedUpAndEarnedBack) {
  RetryBudget budget(1);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(budget.TakeForRetry());
  EXPECT_FALSE(budget.TakeForRetry());
  for (int i = 0; i < 4; ++i) budget.Succeeded();
  EXPECT_FALSE(budget.TakeForRetry());
  budget.Succeeded();
  EXPECT_TRUE(budget.TakeForRetry());
  for (int i = 0; i < 10'000; ++i) budget.Succeeded();
  EXPECT_EQ(budget.left(), RetryBudget::kCapacity);
}

TEST(RetryBudget, DrawsItsJitterEvenly) {
  RetryBudget budget(7);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double drawn = budget.Random();
    ASSERT_TRUE(drawn >= 0 && drawn < 1);
    sum += drawn;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);  // seven standard deviations
}

}  // namespace
}  // namespace firetower::store::s3
