// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/skipped_ticks.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kPeriod = kSecond / 100;  // 100 Hz

// A minute of four CPUs: 24,000 ticks, of which those in idle run nothing.
SkippedTicks::Reading After(uint64_t minutes, uint64_t idle_s, uint64_t runs) {
  return {minutes * 240 * kSecond, idle_s * kSecond, runs, kPeriod, 0};
}

TEST(SkippedTicks, CountsWhatIsMissing) {
  SkippedTicks ticks;
  EXPECT_EQ(ticks.Add(After(1, 0, 24'000)), 0u) << "a first reading has nothing to go by";
  EXPECT_EQ(ticks.Add(After(2, 0, 47'000)), 1'000u);
  EXPECT_EQ(ticks.Add(After(3, 0, 71'000)), 1'000u) << "nothing was missing in this minute";
  EXPECT_EQ(ticks.Add(After(4, 0, 93'000)), 3'000u);
}

TEST(SkippedTicks, ExpectsNothingOfIdleTime) {
  SkippedTicks ticks;
  ticks.Add(After(1, 100, 0));
  // 140 of this minute's 240 CPU seconds were idle: 10,000 ticks are due.
  EXPECT_EQ(ticks.Add(After(2, 240, 10'000)), 0u);
  EXPECT_EQ(ticks.Add(After(3, 380, 19'000)), 1'000u);
}

TEST(SkippedTicks, LeavesASmallShortfallAlone) {
  SkippedTicks ticks;
  ticks.Add(After(1, 0, 24'000));
  // 4 % of a minute's 24,000 ticks are 960.
  EXPECT_EQ(ticks.Add(After(2, 0, 24'000 + 24'000 - 960)), 0u);
  EXPECT_EQ(ticks.Add(After(3, 0, 24'000 + 48'000 - 960 - 961)), 961u);
}

TEST(SkippedTicks, TakesMoreRunsThanTicksForNone) {
  SkippedTicks ticks;
  ticks.Add(After(1, 0, 0));
  EXPECT_EQ(ticks.Add(After(2, 0, 30'000)), 0u);
}

TEST(SkippedTicks, StartsOverWhenAReadingDoesNotContinueTheLast) {
  const SkippedTicks::Reading base = After(10, 100, 100'000);
  auto changed = [&](auto change) {
    SkippedTicks::Reading reading = After(11, 100, 100'000);  // as it is: 24,000 missing
    change(reading);
    SkippedTicks ticks;
    ticks.Add(base);
    return ticks.Add(reading);
  };
  EXPECT_EQ(changed([](auto&) {}), 24'000u);
  EXPECT_EQ(changed([](auto& r) { r.counted_ns = 9 * 240 * kSecond; }), 0u) << "a CPU went";
  EXPECT_EQ(changed([](auto& r) { r.idle_ns = 0; }), 0u);
  EXPECT_EQ(changed([](auto& r) { r.runs = 99'999; }), 0u);
  EXPECT_EQ(changed([](auto& r) { r.period_ns = kSecond / 50; }), 0u) << "another rate";
  EXPECT_EQ(changed([](auto& r) { r.changes = 2; }), 0u) << "another rate for a while";
  EXPECT_EQ(changed([](auto& r) { r.period_ns = 0; }), 0u);
  EXPECT_EQ(changed([](auto& r) { r.idle_ns += 300 * kSecond; }), 0u) << "more idle than time";
}

TEST(SkippedTicks, GoesOnFromTheReadingThatDidNotContinue) {
  SkippedTicks ticks;
  ticks.Add(After(10, 0, 240'000));
  ticks.Add(After(1, 0, 10));
  EXPECT_EQ(ticks.Add(After(2, 0, 10 + 23'000)), 1'000u);
}

TEST(IdleNs, ReadsTheFirstLineOfProcStat) {
  // proc_stat(5): user nice system idle iowait irq softirq …, in hundredths of a second.
  EXPECT_EQ(IdleNs("cpu  100 5 30 2500 50 1 2 0 0 0\ncpu0 1 1 1 7 7 1 1 0 0 0\n"), 25'500'000'000u);
  EXPECT_EQ(IdleNs("cpu  100 5 30 2500 50"), 25'500'000'000u);
}

TEST(IdleNs, IsZeroForAnythingElse) {
  for (const char* text :
       {"", "\n", "cpu", "cpu 1 2 3", "cpu0 1 1 1 7 7 1 1\n", "intr 1 2 3 4 5 6"}) {
    EXPECT_EQ(IdleNs(text), 0u) << text;
  }
}

}  // namespace
}  // namespace firetower::daemon
