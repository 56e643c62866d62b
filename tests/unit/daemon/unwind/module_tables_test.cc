// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/module_tables.h"

#include <gtest/gtest.h>

#include "tests/support/fake_unwind_memory.h"

namespace firetower::daemon {
namespace {

using State = ModuleTables::State;
constexpr uint64_t kBudget = 1u << 20;

PackedTable TableOf(size_t rows) {
  PackedTable table;
  table.first_block = 4;
  table.blocks = {0, static_cast<uint32_t>(rows)};
  table.rows.assign(rows, 0);
  table.rules.resize(1);
  table.rules[0].cfa = FT_CFA_SP;
  table.rules[0].cfa_offset = 8;
  return table;
}

class ModuleTablesTest : public ::testing::Test {
 protected:
  testing::FakeUnwindMemory memory_;
  FakeClock clock_{1, 1};
  Arena arena_{memory_, 4 * kBudget};
  ModuleTables tables_{memory_, arena_, kBudget, clock_};
};

TEST_F(ModuleTablesTest, CodeThatIsNoFileHasNoTable) {
  for (uint32_t module : {ModuleRegistry::kUnknown, ModuleRegistry::kJit}) {
    EXPECT_EQ(tables_.Get(module), State::kNone);
    EXPECT_EQ(memory_.modules()[module].state, uint32_t{FT_MODULE_NO_TABLE});
  }
  constexpr uint32_t kFile = ModuleRegistry::kFirstFile;
  EXPECT_EQ(tables_.Get(kFile), State::kWanted);
  EXPECT_EQ(memory_.modules()[kFile].state, uint32_t{FT_MODULE_COLD});
}

TEST_F(ModuleTablesTest, ATableIsCopiedAndFoundByItsSlot) {
  ASSERT_TRUE(tables_.Insert(9, TableOf(3)));
  const ft_module& slot = memory_.modules()[9];
  EXPECT_EQ(slot.state, uint32_t{FT_MODULE_TABLE});
  EXPECT_EQ(slot.first_block, 4u);
  EXPECT_EQ(slot.block_count, 1u);
  auto* blocks = reinterpret_cast<uint32_t*>(arena_.At(slot.blocks));
  EXPECT_EQ(blocks[1], 3u);
  EXPECT_EQ(reinterpret_cast<ft_rule*>(arena_.At(slot.rules))->cfa_offset, 8);
  EXPECT_EQ(tables_.Get(9), State::kTable);
}

// The kernel side keeps rules it has found by this number.
TEST_F(ModuleTablesTest, ATableThatTakesAnothersPlaceHasAnotherNumber) {
  ASSERT_TRUE(tables_.Insert(9, TableOf(3)));
  const uint32_t position = memory_.modules()[9].blocks;
  const uint32_t first = memory_.modules()[9].serial;
  EXPECT_NE(first, 0u);
  tables_.Forget(9);
  clock_.Advance(Arena::kGraceNs + 1);
  arena_.Reclaim(clock_.MonotonicNs());
  ASSERT_TRUE(tables_.Insert(9, TableOf(3)));
  EXPECT_EQ(memory_.modules()[9].blocks, position);
  const uint32_t second = memory_.modules()[9].serial;
  EXPECT_NE(second, first);
  ASSERT_TRUE(tables_.Insert(10, TableOf(3)));
  EXPECT_NE(memory_.modules()[10].serial, second);
}

TEST_F(ModuleTablesTest, TheLeastRecentlyUsedGoesFirstAndIsColdAgain) {
  size_t rows = kBudget / 4 / 4 - 64;  // a little under a quarter of the budget
  for (uint32_t module = 10; module < 14; ++module) {
    clock_.Advance(1);
    ASSERT_TRUE(tables_.Insert(module, TableOf(rows)));
  }
  clock_.Advance(1);
  tables_.Touch(10);
  ASSERT_TRUE(tables_.Insert(14, TableOf(rows)));
  EXPECT_EQ(tables_.Get(10), State::kTable) << "it was used since";
  EXPECT_EQ(tables_.Get(11), State::kWanted);
  EXPECT_EQ(memory_.modules()[11].state, uint32_t{FT_MODULE_COLD});
  EXPECT_EQ(tables_.evicted(), 1u);
  EXPECT_LE(tables_.bytes(), kBudget);
}

TEST_F(ModuleTablesTest, AnEmptyTableMeansFramePointers) {
  EXPECT_FALSE(tables_.Insert(9, PackedTable()));
  EXPECT_EQ(tables_.Get(9), State::kNone);
  EXPECT_EQ(tables_.refused(), 0u);
}

TEST_F(ModuleTablesTest, OneFileCannotTakeMoreThanItsShare) {
  ASSERT_TRUE(tables_.Insert(9, TableOf(10)));
  EXPECT_FALSE(tables_.Insert(10, TableOf(kBudget / 4 / ModuleTables::kLargestShare)));
  EXPECT_EQ(tables_.Get(10), State::kNone);
  EXPECT_EQ(tables_.refused(), 1u);
  EXPECT_EQ(tables_.Get(9), State::kTable);
}

TEST_F(ModuleTablesTest, WithoutMemoryTheModuleIsWantedStill) {
  memory_.full = true;
  EXPECT_FALSE(tables_.Insert(9, TableOf(10)));
  EXPECT_EQ(tables_.Get(9), State::kWanted);
  EXPECT_EQ(tables_.bytes(), 0u);
}

TEST_F(ModuleTablesTest, TablesThatNobodyMapsAreDropped) {
  ASSERT_TRUE(tables_.Insert(9, TableOf(10)));
  ASSERT_TRUE(tables_.Insert(10, TableOf(10)));
  std::vector<bool> mapped(11, false);
  mapped[10] = true;
  tables_.DropUnmapped(mapped);
  EXPECT_EQ(tables_.Get(9), State::kTable) << "not the first time";
  tables_.DropUnmapped(mapped);
  EXPECT_EQ(tables_.Get(9), State::kWanted);
  EXPECT_EQ(tables_.Get(10), State::kTable);
  EXPECT_EQ(tables_.size(), 1u);
}

TEST_F(ModuleTablesTest, TheVdsoStays) {
  constexpr size_t kRows = kBudget / 4 / 4 - 64;
  ASSERT_TRUE(tables_.Insert(ModuleRegistry::kVdso, TableOf(10)));
  tables_.DropUnmapped({});
  tables_.DropUnmapped({});
  for (uint32_t module = 9; tables_.evicted() < 3; ++module) {
    clock_.Advance(1);
    ASSERT_TRUE(tables_.Insert(module, TableOf(kRows)));
  }
  EXPECT_EQ(tables_.Get(ModuleRegistry::kVdso), State::kTable);
}

}  // namespace
}  // namespace firetower::daemon
