// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/told_waits.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

WaitingThread Thread(uint32_t tid, uint64_t begin_ns, uint64_t wake_ns = 0, uint64_t min_ns = 0) {
  WaitingThread thread;
  thread.tid = tid;
  thread.wait.begin_ns = begin_ns;
  thread.wait.wake_ns = wake_ns;
  thread.wait.min_ns = min_ns;
  return thread;
}

// A wait that stands for itself alone.
ft_wait Ended(uint32_t tid, uint64_t begin_ns, uint64_t end_ns, uint64_t runqueue_ns = 0) {
  ft_wait wait{};
  wait.sample.tid = tid;
  wait.sample.time_ns = end_ns;
  wait.sample.value = end_ns - begin_ns;
  wait.begin_ns = begin_ns;
  wait.runqueue_ns = runqueue_ns;
  wait.total_ns = wait.sample.value;
  wait.total_runqueue_ns = runqueue_ns;
  wait.waits = 1;
  return wait;
}

void Expect(const Amount& amount, uint64_t count, uint64_t value, uint64_t runqueue_ns) {
  EXPECT_EQ(amount.count, count);
  EXPECT_EQ(amount.value, value);
  EXPECT_EQ(amount.runqueue_ns, runqueue_ns);
}

TEST(ToldWaits, AShortWaitIsToldAtItsEnd) {
  ToldWaits told;
  Expect(told.Ends(Ended(7, 100, 150)), 1, 50, 0);
  Expect(told.Ends(Ended(7, 200, 260, 20)), 1, 40, 20);
  Expect(told.Ends(Ended(7, 300, 360, 60)), 1, 0, 60);
}

TEST(ToldWaits, ALongWaitIsToldInPartsAndCountedOnce) {
  ToldWaits told;
  told.BeginListing();
  Expect(told.GoesOn(Thread(7, 100), 1000), 1, 900, 0);
  told.EndListing();
  told.BeginListing();
  Expect(told.GoesOn(Thread(7, 100), 2000), 0, 1000, 0);
  // Another listing of the same moment has nothing to add.
  Expect(told.GoesOn(Thread(7, 100), 2000), 0, 0, 0);
  told.EndListing();
  Expect(told.Ends(Ended(7, 100, 2300, 50)), 0, 250, 50);
  EXPECT_EQ(told.size(), 0u);
  // The same thread's next wait.
  told.BeginListing();
  Expect(told.GoesOn(Thread(7, 2400), 3000), 1, 600, 0);
}

TEST(ToldWaits, WokenBeforeTheListingItWaitsForACpu) {
  ToldWaits told;
  told.BeginListing();
  Expect(told.GoesOn(Thread(7, 100, 400), 1000), 1, 300, 600);
  Expect(told.Ends(Ended(7, 100, 1100, 700)), 0, 0, 100);
}

TEST(ToldWaits, WhatIsTooShortOrBeginsLaterIsNotTold) {
  ToldWaits told;
  told.BeginListing();
  Expect(told.GoesOn(Thread(7, 900, 0, 200), 1000), 0, 0, 0);
  Expect(told.GoesOn(Thread(8, 1001), 1000), 0, 0, 0);
  EXPECT_EQ(told.size(), 0u);
  Expect(told.Ends(Ended(7, 900, 1200)), 1, 300, 0);
}

TEST(ToldWaits, AWaitWhoseEndWasLostIsForgotten) {
  ToldWaits told;
  told.BeginListing();
  told.GoesOn(Thread(7, 100), 1000);
  told.EndListing();
  told.BeginListing();
  told.EndListing();
  EXPECT_EQ(told.size(), 1u) << "its record may be on its way";
  told.BeginListing();
  told.EndListing();
  EXPECT_EQ(told.size(), 0u);
}

TEST(ToldWaits, ASampledWaitStandsForThoseBeforeIt) {
  ToldWaits told;
  ft_wait wait = Ended(7, 100, 200, 25);
  wait.total_ns = 1000;
  wait.total_runqueue_ns = 400;
  wait.waits = 10;
  Expect(told.Ends(wait), 10, 600, 400);
}

}  // namespace
}  // namespace firetower::daemon
