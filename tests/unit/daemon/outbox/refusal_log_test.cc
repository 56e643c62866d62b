// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/refusal_log.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace firetower::daemon {
namespace {

using Told = std::optional<uint64_t>;

const Error kAway(ErrorCode::kUnavailable, "v1/a: connection refused", ECONNREFUSED);
const Error kAwayStill(ErrorCode::kUnavailable, "v1/b: connection refused", ECONNREFUSED);
const Error kFull(ErrorCode::kUnavailable, "no room", ENOSPC);

TEST(RefusalLog, TellsTheFirstThenSeldomThenTheEnd) {
  FakeClock clock(kNsPerSecond, 0);
  RefusalLog log(clock);
  EXPECT_EQ(log.OnTaken(), Told());
  EXPECT_EQ(log.OnRefused(kAway), Told(1));
  for (int i = 0; i < 59; ++i) {
    clock.Advance(10 * kNsPerSecond);
    EXPECT_EQ(log.OnRefused(kAwayStill), Told()) << i;
  }
  clock.Advance(10 * kNsPerSecond);
  EXPECT_EQ(log.OnRefused(kAway), Told(60));
  clock.Advance(10 * kNsPerSecond);
  EXPECT_EQ(log.OnRefused(kAway), Told());
  EXPECT_EQ(log.OnTaken(), Told(62));
  EXPECT_EQ(log.OnTaken(), Told());
  EXPECT_EQ(log.OnRefused(kAway), Told(1));
}

TEST(RefusalLog, TellsAnotherReasonAtOnce) {
  FakeClock clock(kNsPerSecond, 0);
  RefusalLog log(clock);
  EXPECT_EQ(log.OnRefused(kAway), Told(1));
  EXPECT_EQ(log.OnRefused(kAway), Told());
  EXPECT_EQ(log.OnRefused(kFull), Told(2));
  EXPECT_EQ(log.OnTaken(), Told(3));
}

}  // namespace
}  // namespace firetower::daemon
