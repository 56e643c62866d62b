// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/rounds/round_pace.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

TEST(RoundPace, LetsSomeFollowAtOnceAndThenSpacesThem) {
  RoundPace pace(50);
  int64_t now_ns = 1'000'000 * kNsPerMs;
  for (int i = 0; i < RoundPace::kAtOnce; ++i, now_ns += kNsPerMs)
    EXPECT_EQ(pace.WaitMs(now_ns), 0) << i;
  // A thousand under steady pressure are a thousand times the interval apart, but for those.
  const int64_t begin_ns = now_ns;
  for (int i = 0; i < 1000; ++i) now_ns += pace.WaitMs(now_ns) * kNsPerMs + kNsPerMs;
  EXPECT_NEAR(static_cast<double>(now_ns - begin_ns) / kNsPerMs, 1000 * 50.0, 100.0);
  // A rest gives them back.
  now_ns += RoundPace::kAtOnce * 50 * kNsPerMs;
  EXPECT_EQ(pace.WaitMs(now_ns), 0);
}

TEST(RoundPace, NeverAsksForMoreThanTheInterval) {
  RoundPace pace(50);
  for (int64_t now_ns = 0; now_ns < 100 * kNsPerMs; now_ns += kNsPerMs) {
    const int wait_ms = pace.WaitMs(now_ns);
    EXPECT_LE(wait_ms, 50);
    now_ns += wait_ms * kNsPerMs;
  }
}

}  // namespace
}  // namespace firetower::daemon
