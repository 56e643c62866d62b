// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/slice_builder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/hash.h"

namespace firetower::daemon {
namespace {

Frame At(uint32_t module, uint64_t offset, uint32_t pid = 0) { return {module, pid, offset}; }

std::vector<Frame> FramesOf(const Slice& slice, uint32_t stack) {
  const Slice::Stack& at = slice.stacks[stack];
  return {slice.frames.begin() + at.begin, slice.frames.begin() + at.begin + at.size};
}

std::shared_ptr<const Container> ContainerCalled(const std::string& name) {
  auto container = std::make_shared<Container>();
  container->labels = {"-", "-", name};
  return container;
}

TEST(SliceBuilder, MakesEqualStacksOne) {
  SliceBuilder builder;
  std::vector<Frame> frames = {At(4, 0x10), At(5, 0x20)};
  uint32_t first = builder.AddStack(frames, FT_STOP_ROOT);
  EXPECT_EQ(builder.AddStack(std::vector<Frame>(frames), FT_STOP_ROOT), first);
  EXPECT_EQ(builder.slice().stacks.size(), 1u);
  EXPECT_EQ(FramesOf(builder.slice(), first), frames);
}

TEST(SliceBuilder, TellsStacksApart) {
  SliceBuilder builder;
  std::vector<std::vector<Frame>> stacks = {
      {At(4, 0x10), At(5, 0x20)}, {At(5, 0x20), At(4, 0x10)}, {At(4, 0x10)},          {At(5, 0x10)},
      {At(4, 0x10, 7)},           {At(4, 0x10, 8)},           {At(4, 0x10), Frame{}}, {}};
  for (uint32_t i = 0; i < stacks.size(); ++i) {
    EXPECT_EQ(builder.AddStack(stacks[i], FT_STOP_ROOT), i);
  }
  for (uint32_t i = 0; i < stacks.size(); ++i) {
    EXPECT_EQ(builder.AddStack(stacks[i], FT_STOP_ROOT), i);
    EXPECT_EQ(FramesOf(builder.slice(), i), stacks[i]);
  }
}

TEST(SliceBuilder, CountsHowAStackEndedToIt) {
  SliceBuilder builder;
  std::vector<Frame> frames = {At(4, 0x10)};
  uint32_t whole = builder.AddStack(frames, FT_STOP_ROOT);
  uint32_t cut = builder.AddStack(frames, FT_STOP_PAGE);
  EXPECT_NE(whole, cut);
  EXPECT_EQ(builder.slice().stacks[whole].stop, FT_STOP_ROOT);
  EXPECT_EQ(builder.slice().stacks[cut].stop, FT_STOP_PAGE);
  EXPECT_EQ(builder.AddStack({}, kStopStackLost), builder.AddStack({}, kStopStackLost));
}

// The hash is not secret (base/hash.h): the last word of a stack can be chosen so that it has the
// hash of another one.
TEST(SliceBuilder, TellsStacksWithOneHashApart) {
  uint64_t start = HashWord(kHashSeed, FT_STOP_ROOT);
  uint64_t one = HashWord(start, uint64_t{4} << 32);
  uint64_t other = HashWord(start, uint64_t{5} << 32);
  std::vector<Frame> a = {At(4, 0x1234)};
  std::vector<Frame> b = {At(5, 0x1234 ^ one ^ other)};
  ASSERT_EQ(HashWord(one, a[0].offset), HashWord(other, b[0].offset));
  SliceBuilder builder;
  uint32_t first = builder.AddStack(a, FT_STOP_ROOT);
  uint32_t second = builder.AddStack(b, FT_STOP_ROOT);
  EXPECT_NE(first, second);
  EXPECT_EQ(builder.AddStack(a, FT_STOP_ROOT), first);
  EXPECT_EQ(builder.AddStack(b, FT_STOP_ROOT), second);
  EXPECT_EQ(FramesOf(builder.slice(), second), b);
}

TEST(SliceBuilder, MakesEqualLabelsOne) {
  SliceBuilder builder;
  TaskLabel app{ToComm("app"), ToComm("pool-1"), 3};
  uint32_t first = builder.AddLabel(app);
  TaskLabel other_cpu = app, other_comm = app, other_thread = app;
  other_cpu.cpu = -1;
  other_comm.comm = ToComm("app2");
  other_thread.thread = ToComm("pool-2");
  for (const TaskLabel& other : {other_cpu, other_comm, other_thread}) {
    EXPECT_NE(builder.AddLabel(other), first);
  }
  EXPECT_EQ(builder.AddLabel(app), first);
  EXPECT_EQ(builder.slice().labels.size(), 4u);
  EXPECT_EQ(builder.slice().labels[first], app);
}

TEST(SliceBuilder, TellsLabelsWithOneHashApart) {
  TaskLabel a{ToComm("app"), ToComm("app"), 0};
  TaskLabel b = a;
  b.cpu = 1;
  uint64_t word = 0;
  std::memcpy(&word, a.comm.data(), sizeof(word));
  constexpr uint64_t kState = uint64_t{FT_WAIT_STATES} << 32;
  word ^= HashWord(kHashSeed, kState) ^ HashWord(kHashSeed, kState | 1);
  std::memcpy(b.comm.data(), &word, sizeof(word));
  SliceBuilder builder;
  uint32_t first = builder.AddLabel(a);
  EXPECT_NE(builder.AddLabel(b), first);
  EXPECT_EQ(builder.AddLabel(a), first);
}

Amount Once(uint64_t value) { return {.count = 1, .value = value, .runqueue_ns = 0}; }

TEST(SliceBuilder, AddsEqualRowsUp) {
  SliceBuilder builder;
  builder.AddSample(0, 1, 2, Once(10));
  builder.AddSample(0, 1, 2, Once(5));
  builder.AddSample(1, 1, 2, Once(1));
  builder.AddSample(0, 2, 2, Once(2));
  builder.AddSample(0, 1, 3, Once(3));
  builder.AddSample(2, 1, 2, Once(4));
  const std::vector<Slice::Row>& rows = builder.slice().rows;
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].amount.count, 2u);
  EXPECT_EQ(rows[0].amount.value, 15u);
  for (size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].amount.count, 1u);
    EXPECT_EQ(rows[i].amount.value, i);
  }
}

TEST(SliceBuilder, TellsRowsWithOneHashApart) {
  uint64_t one = HashWord(kHashSeed, 1);
  uint64_t other = HashWord(kHashSeed, 2);
  uint64_t last = uint64_t{1} << 32 | 3;
  uint64_t made = last ^ one ^ other;
  SliceBuilder builder;
  builder.AddSample(1, 1, 3, Once(10));
  builder.AddSample(2, static_cast<uint32_t>(made >> 32), static_cast<uint32_t>(made), Once(20));
  builder.AddSample(1, 1, 3, Once(10));
  ASSERT_EQ(builder.slice().rows.size(), 2u);
  EXPECT_EQ(builder.slice().rows[0].amount.value, 20u);
  EXPECT_EQ(builder.slice().rows[1].amount.value, 20u);
  EXPECT_EQ(builder.slice().rows[1].amount.count, 1u);
}

TEST(SliceBuilder, AsksForADecisionOnceASlice) {
  SliceBuilder builder;
  auto container = ContainerCalled("a");
  int asked = 0;
  auto decide = [&] {
    ++asked;
    Decision decision;
    decision.frequency_hz = 49;
    return decision;
  };
  uint32_t index = builder.AddContainer(container, FT_TYPE_CPU, decide);
  EXPECT_EQ(builder.AddContainer(container, FT_TYPE_CPU, decide), index);
  EXPECT_NE(builder.AddContainer(ContainerCalled("a"), FT_TYPE_CPU, decide), index);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(builder.slice().containers[index].container, container);
  EXPECT_EQ(builder.slice().containers[index].decision.frequency_hz, 49u);
  builder.Take(nullptr);
  builder.AddContainer(container, FT_TYPE_CPU, decide);
  EXPECT_EQ(asked, 3);
}

TEST(SliceBuilder, StartsAnewAfterTake) {
  SliceBuilder builder;
  std::vector<Frame> frames = {At(4, 0x10)};
  builder.AddStack({}, FT_STOP_EXEC);
  uint32_t stack = builder.AddStack(frames, FT_STOP_ROOT);
  uint32_t label = builder.AddLabel({});
  uint32_t container =
      builder.AddContainer(ContainerCalled("a"), FT_TYPE_CPU, [] { return Decision{}; });
  builder.AddSample(container, stack, label, Once(10));
  uint32_t serial = builder.serial();
  std::unique_ptr<Slice> taken = builder.Take(nullptr);
  EXPECT_NE(builder.serial(), serial);
  ASSERT_EQ(taken->rows.size(), 1u);
  EXPECT_EQ(taken->stacks.size(), 2u);
  EXPECT_TRUE(builder.slice().rows.empty());
  EXPECT_TRUE(builder.slice().stacks.empty());
  EXPECT_TRUE(builder.slice().labels.empty());
  EXPECT_TRUE(builder.slice().containers.empty());
  // The same values get ids of the new slice.
  EXPECT_EQ(builder.AddStack(frames, FT_STOP_ROOT), 0u);
  builder.AddSample(0, 0, builder.AddLabel({}), Once(7));
  ASSERT_EQ(builder.slice().rows.size(), 1u);
  EXPECT_EQ(builder.slice().rows[0].amount.value, 7u);
  EXPECT_EQ(taken->rows[0].amount.value, 10u);
}

TEST(SliceBuilder, FillsTheSliceItIsGiven) {
  SliceBuilder builder;
  auto next = std::make_unique<Slice>();
  const Slice* place = next.get();
  builder.Take(std::move(next));
  EXPECT_EQ(&builder.slice(), place);
}

TEST(Slice, ClearsEverything) {
  Slice slice;
  slice.frames.push_back({});
  slice.stacks.push_back({});
  slice.rows.push_back({});
  slice.labels.push_back({});
  slice.containers.push_back({});
  slice.modules.push_back({});
  slice.gone.push_back(nullptr);
  slice.attribution.unknown = 3;
  slice.stops[kStopStackLost] = 2;
  slice.ends_window = true;
  slice.Clear();
  EXPECT_TRUE(slice.frames.empty() && slice.stacks.empty() && slice.rows.empty());
  EXPECT_TRUE(slice.labels.empty() && slice.containers.empty());
  EXPECT_TRUE(slice.modules.empty() && slice.gone.empty());
  EXPECT_EQ(slice.attribution.unknown, 0u);
  EXPECT_EQ(slice.stops[kStopStackLost], 0u);
  EXPECT_FALSE(slice.ends_window);
}

TEST(StopReason, NamesEachCutAndNoWholeStack) {
  EXPECT_EQ(StopReason(FT_STOP_ROOT), "");
  EXPECT_EQ(StopReason(FT_STOP_NO_USER), "");
  std::vector<std::string_view> seen;
  for (uint8_t stop = FT_STOP_PAGE; stop < kStopCount; ++stop) {
    EXPECT_NE(StopReason(stop), "");
    EXPECT_NE(StopReason(stop), "unknown") << int{stop};
    EXPECT_EQ(std::count(seen.begin(), seen.end(), StopReason(stop)), 0);
    seen.push_back(StopReason(stop));
  }
}

}  // namespace
}  // namespace firetower::daemon
