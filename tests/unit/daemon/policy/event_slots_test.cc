// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/event_slots.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

constexpr int64_t kNow = 1000 * kNsPerSecond;

TEST(EventSlots, KeepsNumbersWhilePoliciesChange) {
  EventSlots slots;
  const EventNames first = slots.Assign({"cs", "faults"}, kNow);
  EXPECT_EQ(SlotOf(first, "cs"), 0u);
  EXPECT_EQ(SlotOf(first, "faults"), 1u);
  EXPECT_FALSE(SlotOf(first, "cycles"));
  EXPECT_FALSE(SlotOf(first, ""));
  const EventNames then = slots.Assign({"cycles", "faults"}, kNow + kNsPerSecond);
  EXPECT_EQ(SlotOf(then, "faults"), 1u);
  EXPECT_EQ(SlotOf(then, "cs"), 0u) << "profiles of it may be open";
  EXPECT_EQ(SlotOf(then, "cycles"), 2u);
}

TEST(EventSlots, ANumberRestsFromTheLastMomentOfItsUse) {
  EventSlots slots;
  slots.Assign({"a", "b", "c", "d"}, kNow);
  // The policies did not change for an hour; profiles of "a" are open until now.
  const int64_t later = kNow + 3600 * kNsPerSecond;
  EXPECT_FALSE(SlotOf(slots.Assign({"b", "c", "d", "e"}, later), "e"));
  EXPECT_EQ(SlotOf(slots.Assign({"b", "c", "d", "e"}, later + EventSlots::kRestNs), "e"), 0u);
}

TEST(EventSlots, GivesANumberAwayAfterItRested) {
  EventSlots slots;
  slots.Assign({"a", "b", "c", "d"}, kNow);
  EXPECT_FALSE(SlotOf(slots.Assign({"b", "c", "d", "e"}, kNow + kNsPerSecond), "e"));
  const int64_t last = kNow + kNsPerSecond + EventSlots::kRestNs - 1;
  EXPECT_FALSE(SlotOf(slots.Assign({"b", "c", "d", "e"}, last), "e"));
  const EventNames names = slots.Assign({"b", "c", "d", "e"}, last + 1);
  EXPECT_EQ(SlotOf(names, "e"), 0u);
  EXPECT_EQ(SlotOf(names, "b"), 1u);
}

}  // namespace
}  // namespace firetower::daemon
