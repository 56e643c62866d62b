// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/address_spaces.h"

#include <gtest/gtest.h>

#include "bpf/abi/hotspot.h"
#include "tests/support/fake_unwind_memory.h"

namespace firetower::daemon {
namespace {

class AddressSpacesTest : public ::testing::Test {
 protected:
  static Process ProcessOf(uint32_t pid, uint32_t identity, std::vector<ProcessMapping> mappings) {
    Process process;
    process.pid = pid;
    process.identity = identity;
    process.mappings = std::make_shared<std::vector<ProcessMapping>>(std::move(mappings));
    return process;
  }
  const uint64_t* Words(uint32_t position) {
    return reinterpret_cast<const uint64_t*>(arena_.At(position));
  }
  const ft_mapping* MappingsAt(uint32_t position, uint32_t count) {
    return reinterpret_cast<const ft_mapping*>(arena_.At(position) + FT_STARTS_BYTES(count));
  }

  testing::FakeUnwindMemory memory_;
  FakeClock clock_{1, 1};
  Arena arena_{memory_, 4u << 20};
  AddressSpaces spaces_{memory_, arena_, clock_};
};

TEST_F(AddressSpacesTest, LaysMappingsOutAsTheWalkReadsThem) {
  Process process = ProcessOf(42, 7, {{0x1000, 0x3000, 0x1000, 5, 0}, {0x8000, 0x9000, 0, 6, 0}});
  auto space = spaces_.Publish(process);
  ASSERT_NE(space, nullptr);
  const ft_process* entry = memory_.FindProcess(42);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->identity, 7u);
  EXPECT_EQ(entry->mappings, space->position);
  const uint64_t* words = Words(entry->mappings);
  EXPECT_EQ(words[0], 2u);
  EXPECT_EQ(words[FT_START_AT(0) / 8], 0x1000u);
  EXPECT_EQ(words[FT_START_AT(1) / 8], 0x8000u);
  const ft_mapping* mappings = MappingsAt(entry->mappings, 2);
  EXPECT_EQ(mappings[0].end, 0x3000u);
  EXPECT_EQ(mappings[0].bias, 0u);  // address 0x1000 is offset 0x1000
  EXPECT_EQ(mappings[0].module, 5u);
  EXPECT_EQ(mappings[1].bias, 0x8000u);
}

TEST_F(AddressSpacesTest, TellsWhereThreadsPublishTheirTrace) {
  Process process = ProcessOf(42, 7, {{0x1000, 0x3000, 0x1000, 5, 0}});
  auto space = spaces_.Publish(process);
  EXPECT_EQ(reinterpret_cast<const ft_space*>(Words(space->position))->trace_kind, FT_TRACE_NONE);
  const TraceVariable variable{.kind = FT_TRACE_DTV, .dtv_bytes = 16, .module = 3, .offset = 0x40};
  space = spaces_.Publish(process, variable);
  EXPECT_EQ(memory_.FindProcess(42)->mappings, space->position);
  const auto* head = reinterpret_cast<const ft_space*>(Words(space->position));
  EXPECT_EQ(head->count, 1u);
  EXPECT_EQ(head->trace_kind, FT_TRACE_DTV);
  EXPECT_EQ(head->trace_module, 3u);
  EXPECT_EQ(head->trace_offset, 0x40);
  EXPECT_EQ(head->dtv_bytes, 16u);
  EXPECT_EQ(spaces_.Publish(process, variable), space) << "nothing has changed";
}

TEST_F(AddressSpacesTest, AChangeIsANewListAndTheOldOneIsFreedOnceNobodyHoldsIt) {
  Process process = ProcessOf(42, 7, {{0x1000, 0x2000, 0, 5, 0}});
  auto first = spaces_.Publish(process);
  uint64_t one_list = arena_.used_bytes();
  process.mappings = std::make_shared<std::vector<ProcessMapping>>(*process.mappings);
  process.mappings->push_back({0x4000, 0x5000, 0, 6, 0});
  ++process.generation;
  auto second = spaces_.Publish(process);
  EXPECT_NE(first->position, second->position);
  EXPECT_EQ(memory_.FindProcess(42)->mappings, second->position);
  EXPECT_EQ(*Words(first->position), 1u) << "lists do not change";
  first.reset();
  clock_.Advance(Arena::kGraceNs);
  arena_.Reclaim(clock_.MonotonicNs());
  EXPECT_EQ(arena_.used_bytes(), one_list);
}

TEST_F(AddressSpacesTest, AJavaMachineIsOfOneImageOfItsProcess) {
  Process process = ProcessOf(42, 7, {{0x1000, 0x2000, 0, 5, 0}});
  ft_hotspot hotspot{};
  hotspot.at.low = 0x7000;
  EXPECT_FALSE(spaces_.SetMachine(42, hotspot)) << "not published";
  spaces_.Publish(process);
  EXPECT_EQ(memory_.FindProcess(42)->machine, 0u);
  const uint64_t without = arena_.used_bytes();
  ASSERT_TRUE(spaces_.SetMachine(42, hotspot));
  EXPECT_TRUE(spaces_.HasMachine(42));
  const uint32_t at = memory_.FindProcess(42)->machine;
  EXPECT_EQ(at % sizeof(ft_hotspot), 0u) << "it never crosses a slab";
  EXPECT_EQ(Words(at)[0], 0x7000u);
  process.identity = 8;
  spaces_.Publish(process);
  EXPECT_EQ(memory_.FindProcess(42)->machine, 0u);
  EXPECT_FALSE(spaces_.HasMachine(42));
  clock_.Advance(Arena::kGraceNs);
  arena_.Reclaim(clock_.MonotonicNs());
  EXPECT_EQ(arena_.used_bytes(), without);
}

TEST_F(AddressSpacesTest, PublishingTheSameAgainWritesNothing) {
  Process process = ProcessOf(42, 7, {{0x1000, 0x2000, 0, 5, 0}});
  auto first = spaces_.Publish(process);
  uint64_t used = arena_.used_bytes();
  EXPECT_EQ(spaces_.Publish(process), first);
  EXPECT_EQ(arena_.used_bytes(), used);
}

TEST_F(AddressSpacesTest, AnExecIsSeenAsAnotherIdentity) {
  Process process = ProcessOf(42, 7, {{0x1000, 0x2000, 0, 5, 0}});
  spaces_.Publish(process);
  ++process.identity;
  ++process.generation;
  spaces_.Publish(process);
  EXPECT_EQ(memory_.FindProcess(42)->identity, 8u);
  EXPECT_EQ(spaces_.size(), 1u);
}

TEST_F(AddressSpacesTest, WithdrawnProcessesAreGoneAndTheirPlaceIsUsedAgain) {
  for (uint32_t pid = 1; pid <= 20'000; ++pid) {
    ASSERT_NE(spaces_.Publish(ProcessOf(pid, 1, {{0x1000, 0x2000, 0, 5, 0}})), nullptr) << pid;
    spaces_.Withdraw(pid);
    clock_.Advance(Arena::kGraceNs);
    arena_.Reclaim(clock_.MonotonicNs());
  }
  EXPECT_EQ(memory_.FindProcess(20'000), nullptr);
  EXPECT_EQ(spaces_.size(), 0u);
  EXPECT_EQ(arena_.used_bytes(), 0u);
}

TEST_F(AddressSpacesTest, TwelveThousandProcessesFitAtOnce) {
  Arena large(memory_, 16u << 20);
  AddressSpaces spaces(memory_, large, clock_);
  for (uint32_t pid = 1; pid <= 12'000; ++pid) {
    spaces.Publish(ProcessOf(pid, 1, {{0x1000, 0x2000, 0, 5, 0}}));
  }
  // Two choices of a bucket of four: nearly none finds both full at three quarters of the room.
  EXPECT_GE(spaces.size(), 11'990u);
  EXPECT_EQ(spaces.size() + spaces.refused(), 12'000u);
}

TEST_F(AddressSpacesTest, WithoutRoomAProcessIsNotTold) {
  memory_.full = true;
  EXPECT_EQ(spaces_.Publish(ProcessOf(42, 7, {{0x1000, 0x2000, 0, 5, 0}})), nullptr);
  EXPECT_EQ(memory_.FindProcess(42), nullptr);
  EXPECT_EQ(spaces_.refused(), 1u);
  memory_.full = false;
  EXPECT_NE(spaces_.Publish(ProcessOf(42, 7, {{0x1000, 0x2000, 0, 5, 0}})), nullptr);
}

}  // namespace
}  // namespace firetower::daemon
