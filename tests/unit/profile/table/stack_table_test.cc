// SPDX-License-Identifier: Apache-2.0
#include "profile/table/stack_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace firetower::profile {
namespace {

using Ids = std::vector<uint32_t>;

Ids IdsOf(const StackView& stack) { return {stack.begin(), stack.end()}; }

TEST(StackTable, IdsStayWhenALocationComesThatNeedsFourBytes) {
  StackTable table;
  const std::vector<Ids> narrow{{1, 2, 3}, {}, {65'535}, {0, 65'535, 7}};
  for (uint32_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(table.Intern(narrow[i]), i);
  EXPECT_EQ(table.Intern(narrow[2]), 2u);
  EXPECT_EQ(table.Find(Ids{65'536}), IdSet::kNone);  // not the 0 of its lower bytes
  EXPECT_EQ(table.Intern(Ids{65'536}), 4u);
  EXPECT_EQ(table.Intern(Ids{0}), 5u);
  for (uint32_t i = 0; i < narrow.size(); ++i) {
    EXPECT_EQ(table.Intern(narrow[i]), i);
    EXPECT_EQ(table.Find(narrow[i]), i);
  }
  const StackPool pool = std::move(table).TakePool();
  for (uint32_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(IdsOf(pool.Get(i)), narrow[i]);
  EXPECT_EQ(IdsOf(pool.Get(4)), Ids{65'536});
  EXPECT_EQ(pool.Get(4)[0], 65'536u);
}

TEST(StackTable, TakesTwoBytesAFrameUntilThen) {
  const Ids deep(1000, 65'535);
  StackTable narrow;
  narrow.Reserve(1, deep.size(), 65'536);
  narrow.Intern(deep);
  StackTable wide;
  wide.Reserve(1, deep.size(), 65'537);
  wide.Intern(deep);
  EXPECT_EQ(wide.bytes() - narrow.bytes(), 2000u);
  EXPECT_EQ(IdsOf(std::move(narrow).TakePool().Get(0)), deep);
  EXPECT_EQ(IdsOf(std::move(wide).TakePool().Get(0)), deep);
}

}  // namespace
}  // namespace firetower::profile
