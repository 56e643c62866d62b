// SPDX-License-Identifier: Apache-2.0
#include "net/server/admission.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace firetower::net {
namespace {

constexpr int64_t kLongNs = 60 * kNsPerSecond;

TEST(Admission, LetsInAsManyAsMayRun) {
  Admission admission({.running = 2, .waiting = 0, .longest_wait_ns = kLongNs});
  std::optional<Admission::Pass> first = admission.Enter({});
  const std::optional<Admission::Pass> second = admission.Enter({});
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(admission.Enter({}));
  first.reset();
  EXPECT_TRUE(admission.Enter({}));
}

TEST(Admission, WhoWaitsComesInWhenSomebodyLeaves) {
  Admission admission({.running = 1, .waiting = 1, .longest_wait_ns = kLongNs});
  std::optional<Admission::Pass> first = admission.Enter({});
  std::atomic<bool> came_in = false;
  std::thread other([&] { came_in = admission.Enter({}).has_value(); });
  first.reset();
  other.join();
  EXPECT_TRUE(came_in);
}

TEST(Admission, NobodyWaitsForLongerThanIsSaid) {
  Admission admission({.running = 1, .waiting = 1, .longest_wait_ns = kNsPerMs});
  const std::optional<Admission::Pass> first = admission.Enter({});
  EXPECT_FALSE(admission.Enter({}));
}

TEST(Admission, WhoHasGoneWaitsNoMore) {
  Admission admission({.running = 1, .waiting = 1, .longest_wait_ns = kLongNs});
  const std::optional<Admission::Pass> first = admission.Enter({});
  std::stop_source gone;
  std::thread other([&] { EXPECT_FALSE(admission.Enter(gone.get_token())); });
  gone.request_stop();
  other.join();
}

TEST(Admission, SaysWhenTheLastOneLeft) {
  int idle = 0;
  Admission admission({.running = 2, .waiting = 0, .longest_wait_ns = kLongNs}, [&] { ++idle; });
  std::optional<Admission::Pass> first = admission.Enter({});
  std::optional<Admission::Pass> second = admission.Enter({});
  first.reset();
  EXPECT_EQ(idle, 0);
  second.reset();
  EXPECT_EQ(idle, 1);
}

}  // namespace
}  // namespace firetower::net
