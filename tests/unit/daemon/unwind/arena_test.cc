// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/arena.h"

#include <gtest/gtest.h>

#include "tests/support/fake_unwind_memory.h"

namespace firetower::daemon {
namespace {

constexpr uint64_t kMiB = 1u << 20;

TEST(Arena, NeverHandsOutPositionZeroAndAlignsToLines) {
  testing::FakeUnwindMemory memory;
  Arena arena(memory, 4 * kMiB);
  auto first = arena.Allocate(1);
  auto second = arena.Allocate(65);
  auto third = arena.Allocate(1);
  ASSERT_TRUE(first && second && third);
  EXPECT_GT(*first, 0u);
  EXPECT_EQ(*first % 64, 0u);
  EXPECT_EQ(*second - *first, 64u);
  EXPECT_EQ(*third - *second, 128u);
  EXPECT_EQ(arena.used_bytes(), 64u + 128 + 64);
}

TEST(Arena, MakesSlabsWhereARangeTouchesThemAndGivesThemBack) {
  testing::FakeUnwindMemory memory;
  Arena arena(memory, 8 * kMiB);
  EXPECT_TRUE(memory.slabs.empty());
  auto small = arena.Allocate(64);
  EXPECT_EQ(memory.slabs, (std::set<uint32_t>{0}));
  auto large = arena.Allocate(2 * kMiB);
  EXPECT_EQ(memory.slabs, (std::set<uint32_t>{0, 1, 2}));
  arena.Free(*large, 0);
  arena.Reclaim(Arena::kGraceNs);
  EXPECT_EQ(memory.slabs, (std::set<uint32_t>{0}));
  arena.Free(*small, Arena::kGraceNs);
  arena.Reclaim(2 * Arena::kGraceNs);
  EXPECT_TRUE(memory.slabs.empty());
  EXPECT_EQ(arena.slab_bytes(), 0u);
}

TEST(Arena, ReusesWhatWasFreedOnlyAfterItsGrace) {
  testing::FakeUnwindMemory memory;
  Arena arena(memory, kMiB);
  auto all = arena.Allocate(kMiB - 64);
  ASSERT_TRUE(all);
  EXPECT_FALSE(arena.Allocate(64));
  arena.Free(*all, 1000);
  arena.Reclaim(1000 + Arena::kGraceNs - 1);
  EXPECT_FALSE(arena.Allocate(64)) << "a walk may be in it still";
  arena.Reclaim(1000 + Arena::kGraceNs);
  EXPECT_TRUE(arena.Allocate(64));
}

TEST(Arena, JoinsNeighboursThatWereFreedInAnyOrder) {
  testing::FakeUnwindMemory memory;
  Arena arena(memory, kMiB);
  uint64_t third = (kMiB - 64) / 3 / 64 * 64;
  std::vector<uint32_t> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(*arena.Allocate(third));
  for (int i : {2, 0, 1}) arena.Free(parts[static_cast<size_t>(i)], 0);
  arena.Reclaim(Arena::kGraceNs);
  EXPECT_EQ(arena.used_bytes(), 0u);
  EXPECT_TRUE(arena.Allocate(kMiB - 64));
}

TEST(Arena, SaysNoWithoutMemoryAndRecovers) {
  testing::FakeUnwindMemory memory;
  Arena arena(memory, 4 * kMiB);
  memory.full = true;
  EXPECT_FALSE(arena.Allocate(2 * kMiB));
  EXPECT_TRUE(memory.slabs.empty());
  EXPECT_EQ(arena.used_bytes(), 0u);
  memory.full = false;
  EXPECT_TRUE(arena.Allocate(2 * kMiB));
}

TEST(Arena, GivesEverySlabBackAtItsEnd) {
  testing::FakeUnwindMemory memory;
  {
    Arena arena(memory, 4 * kMiB);
    arena.Allocate(3 * kMiB);
    EXPECT_FALSE(memory.slabs.empty());
  }
  EXPECT_TRUE(memory.slabs.empty());
}

}  // namespace
}  // namespace firetower::daemon
