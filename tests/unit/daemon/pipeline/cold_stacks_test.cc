// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/cold_stacks.h"

#include <gtest/gtest.h>

#include "tests/support/fake_proc.h"
#include "tests/support/fake_unwind_memory.h"
#include "tests/support/rounds.h"

namespace firetower::daemon {
namespace {

class NoTables : public TableRequests {
 public:
  bool WantTable(uint32_t, const std::shared_ptr<const Module>&, const Process&,
                 const ProcessMapping&) override {
    return true;
  }
};

constexpr uint64_t kCode = 0x10000;
constexpr size_t kStackBytes = 64u << 10;

class ColdStacksTest : public ::testing::Test {
 protected:
  ColdStacksTest() {
    SidebandEvent event;
    event.kind = SidebandKind::kMmap;
    event.pid = event.tid = 42;
    event.start = kCode;
    event.size_bytes = 0x1000;
    processes_.Apply(event, "/bin/app");
    space_ = unwinder_.Meet(processes_.Get(42), 1);
  }
  void Add(uint32_t tgid = 42) {
    FinishedStack start;
    start.sample.tgid = tgid;
    start.space = space_;
    ColdStack cold;
    cold.ip = kCode + 0x20;
    cold.sp = 0x7ffd00000000;
    stacks_.Add(std::move(start), cold, std::vector<std::byte>(kStackBytes));
  }

  testing::FakeProc proc_;
  testing::FakeUnwindMemory memory_;
  FakeClock clock_{kNsPerSecond, kNsPerSecond};
  ModuleRegistry modules_;
  ProcessTable processes_{modules_, ProcFs(proc_.root()), clock_};
  NoTables tables_;
  Unwinder unwinder_{memory_, processes_, modules_, tables_, clock_, {}};
  ColdStacks stacks_{unwinder_, processes_, clock_};
  std::shared_ptr<const AddressSpace> space_;
};

TEST_F(ColdStacksTest, WhatWaitsIsBoundedInBytes) {
  constexpr size_t kMost = ColdStacks::kMaxWaitingBytes / kStackBytes;
  for (size_t i = 0; i < kMost; ++i) Add();
  EXPECT_EQ(stacks_.waiting(), kMost);
  EXPECT_TRUE(stacks_.finished().empty());
  Add();
  EXPECT_EQ(stacks_.waiting(), kMost);
  ASSERT_EQ(stacks_.finished().size(), 1u);
  EXPECT_EQ(stacks_.finished().back().stop, FT_STOP_COLD);
}

TEST_F(ColdStacksTest, WhoHoldsMostOfTheRoomGivesWayToOthers) {
  constexpr size_t kMost = ColdStacks::kMaxWaitingBytes / kStackBytes;
  for (size_t i = 0; i < kMost; ++i) Add(42);
  // Each has half of it in the end, and neither drives the other out.
  for (size_t i = 0; i < kMost; ++i) Add(43);
  EXPECT_EQ(stacks_.waiting(), kMost);
  size_t cut[2] = {};
  for (const FinishedStack& stack : stacks_.finished()) ++cut[stack.sample.tgid - 42];
  EXPECT_EQ(cut[0], kMost / 2);
  EXPECT_EQ(cut[1], kMost / 2);
}

TEST_F(ColdStacksTest, WhoHasWaitedTooLongMakesRoom) {
  constexpr size_t kMost = ColdStacks::kMaxWaitingBytes / kStackBytes;
  for (size_t i = 0; i < kMost; ++i) Add();
  clock_.Advance(ColdStacks::kMaxWaitNs);
  stacks_.Retry();
  EXPECT_EQ(stacks_.waiting(), 0u);
  EXPECT_EQ(stacks_.finished().size(), kMost);
  Add();
  EXPECT_EQ(stacks_.waiting(), 1u);
}

}  // namespace
}  // namespace firetower::daemon
