// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/stack_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rounds.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::AddBody;
using ::firetower::testing::BodyOf;
using ::testing::ElementsAre;

void Add(StackStore& store, const BodyOf& body) {
  Round round;
  AddBody(round, body);
  store.Add(round);
}

BodyOf Body(uint64_t hash, uint32_t epoch, std::vector<uint64_t> user = {0x1000}) {
  return {.hash = hash, .tgid = 7, .user = std::move(user), .epoch = epoch};
}

TEST(StackStore, GivesBackEachBodyWhole) {
  StackStore store;
  Round round;
  AddBody(round, {.hash = 1,
                  .tgid = 10,
                  .kernel = {0xffffffff81000010, 0xffffffff81000020},
                  .user = {0x401000, 0x401100, 0x401200},
                  .stop = FT_STOP_PAGE});
  AddBody(round, {.hash = 2, .tgid = 11, .stop = FT_STOP_REFUSED});
  AddBody(round, {.hash = 3, .tgid = 12, .kernel = {0xffffffff81000030}, .stop = FT_STOP_NO_USER});
  AddBody(round, {.hash = 4, .tgid = 13, .user = {0x402000}});
  store.Add(round);
  const StackStore::Body* whole = store.Find(1);
  ASSERT_NE(whole, nullptr);
  EXPECT_THAT(store.Addresses(*whole),
              ElementsAre(0xffffffff81000010, 0xffffffff81000020, 0x401000, 0x401100, 0x401200));
  EXPECT_EQ(whole->kernel_frames, 2);
  EXPECT_EQ(whole->user_frames, 3);
  EXPECT_EQ(whole->stop, FT_STOP_PAGE);
  EXPECT_EQ(whole->pid, 10u);
  EXPECT_THAT(store.Addresses(*store.Find(2)), ElementsAre());
  EXPECT_EQ(store.Find(2)->stop, FT_STOP_REFUSED);
  EXPECT_THAT(store.Addresses(*store.Find(3)), ElementsAre(0xffffffff81000030));
  EXPECT_THAT(store.Addresses(*store.Find(4)), ElementsAre(0x402000));
  EXPECT_EQ(store.Find(5), nullptr);
  EXPECT_EQ(store.refused(), 0u);
}

TEST(StackStore, KeepsTwoEpochs) {
  StackStore store;
  Add(store, Body(100, 1));
  Add(store, Body(200, 2));
  EXPECT_NE(store.Find(100), nullptr);
  EXPECT_NE(store.Find(200), nullptr);
  Add(store, Body(300, 3));
  EXPECT_EQ(store.Find(100), nullptr);
  EXPECT_NE(store.Find(200), nullptr);
  EXPECT_NE(store.Find(300), nullptr);
}

TEST(StackStore, TakesALateBodyOfTheEpochBefore) {
  StackStore store;
  Add(store, Body(1, 1));
  Add(store, Body(2, 2));
  Add(store, Body(3, 1, {0xaaa, 0xbbb}));  // Its CPU was slow to submit it.
  ASSERT_NE(store.Find(3), nullptr);
  EXPECT_THAT(store.Addresses(*store.Find(3)), ElementsAre(0xaaa, 0xbbb));
  EXPECT_NE(store.Find(2), nullptr);
  Add(store, Body(4, 3));
  EXPECT_EQ(store.Find(3), nullptr) << "it goes with its own epoch";
}

TEST(StackStore, CountsALateBodyOfAnEndedEpoch) {
  StackStore store;
  Add(store, Body(1, 1));
  Add(store, Body(2, 2));
  Add(store, Body(3, 3));
  Add(store, Body(4, 1));
  EXPECT_EQ(store.Find(4), nullptr);
  EXPECT_EQ(store.refused(), 1u);
  EXPECT_NE(store.Find(2), nullptr);
  EXPECT_NE(store.Find(3), nullptr);
}

TEST(StackStore, PrefersTheNewerOfTwoBodiesWithOneHash) {
  // The kernel's hash holds the epoch, so this is a collision; the sample that came last means the
  // body that came last.
  StackStore store;
  Add(store, Body(1, 1, {0x1000}));
  Add(store, Body(1, 2, {0x2000, 0x3000}));
  EXPECT_THAT(store.Addresses(*store.Find(1)), ElementsAre(0x2000, 0x3000));
  Add(store, Body(9, 3));
  EXPECT_THAT(store.Addresses(*store.Find(1)), ElementsAre(0x2000, 0x3000));
}

TEST(StackStore, TakesABodySentTwiceForOne) {
  StackStore store;
  Add(store, Body(1, 1, {0x1000, 0x1100}));
  store.Find(1)->slice_serial = 5;
  Add(store, Body(1, 1, {0x1000, 0x1100}));
  EXPECT_EQ(store.Find(1)->slice_serial, 5u) << "what was resolved stays";
  EXPECT_THAT(store.Addresses(*store.Find(1)), ElementsAre(0x1000, 0x1100));
}

TEST(StackStore, CountsBodiesBeyondItsWords) {
  StackStore store;
  std::vector<uint64_t> deep(1024, 0x1000);
  const uint64_t fit = StackStore::kMaxWords / deep.size();
  for (uint64_t hash = 1; hash <= fit; ++hash) Add(store, Body(hash, 1, deep));
  EXPECT_EQ(store.refused(), 0u);
  EXPECT_NE(store.Find(fit), nullptr);
  Add(store, Body(fit + 1, 1, {0x1000}));
  EXPECT_EQ(store.refused(), 1u);
  EXPECT_EQ(store.Find(fit + 1), nullptr);
  EXPECT_LE(store.bytes(), 2 * sizeof(uint64_t) * StackStore::kMaxWords);
  Add(store, Body(fit + 2, 2, deep));  // The next epoch has room again.
  EXPECT_NE(store.Find(fit + 2), nullptr);
}

TEST(StackStore, CountsBodiesBeyondItsNumber) {
  // Stacks of a frame or two, each a process of its own: few words, many entries.
  StackStore store;
  for (uint64_t hash = 1; hash <= store.max_bodies(); ++hash) Add(store, Body(hash, 1));
  EXPECT_EQ(store.refused(), 0u);
  Add(store, Body(store.max_bodies() + 1, 1));
  EXPECT_EQ(store.refused(), 1u);
  EXPECT_EQ(store.Find(store.max_bodies() + 1), nullptr);
  Add(store, Body(1, 1));
  EXPECT_EQ(store.refused(), 1u) << "one that is known needs no room";
}

TEST(StackStore, WantsATurnWhenHalfOfItIsFull) {
  std::vector<uint64_t> deep(64, 0x1000);
  StackStore words(1024);
  for (uint64_t hash = 1; hash <= 7; ++hash) Add(words, Body(hash, 1, deep));
  EXPECT_FALSE(words.WantsTurn(1));
  Add(words, Body(8, 1, deep));  // 512 words of 1024
  EXPECT_TRUE(words.WantsTurn(1));
  EXPECT_FALSE(words.WantsTurn(2)) << "asked for already: what still comes has the other half";
  Add(words, Body(9, 2, deep));
  EXPECT_FALSE(words.WantsTurn(2));
  EXPECT_FALSE(words.WantsTurn(1));
  EXPECT_NE(words.Find(1), nullptr) << "samples taken before the turn still have their stacks";

  StackStore bodies(1024);
  for (uint64_t hash = 1; hash < bodies.max_bodies() / 2; ++hash) Add(bodies, Body(hash, 1));
  EXPECT_FALSE(bodies.WantsTurn(1));
  Add(bodies, Body(1000, 1));
  EXPECT_TRUE(bodies.WantsTurn(1));
}

TEST(StackStore, GrowsWithTheMachineUpToACap) {
  // A generation is 4 MiB of addresses at least, 16 MiB at most.
  EXPECT_EQ(StackStore::WordsFor(1) * sizeof(uint64_t), 4u << 20);
  EXPECT_EQ(StackStore::WordsFor(4) * sizeof(uint64_t), 8u << 20);
  EXPECT_EQ(StackStore::WordsFor(256) * sizeof(uint64_t), 16u << 20);
}

}  // namespace
}  // namespace firetower::daemon
