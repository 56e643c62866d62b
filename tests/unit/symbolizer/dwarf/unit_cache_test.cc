// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/unit_cache.h"

#include <gtest/gtest.h>

namespace firetower::symbolizer::dwarf {
namespace {

std::shared_ptr<const UnitTable> Table() { return std::make_shared<const UnitTable>(); }

TEST(UnitCache, HoldsItsBudgetAndKeepsWhatWasUsedLast) {
  UnitCache one(1 << 20);
  one.Insert(0, 0, Table());
  const size_t each = one.bytes();
  UnitCache cache(2 * each);
  const uint64_t file = cache.NewFile();
  cache.Insert(file, 0, Table());
  cache.Insert(file, 1, Table());
  EXPECT_NE(cache.Find(file, 0), nullptr);
  cache.Insert(file, 2, Table());
  EXPECT_TRUE(cache.Has(file, 0));
  EXPECT_FALSE(cache.Has(file, 1));
  EXPECT_TRUE(cache.Has(file, 2));
  EXPECT_EQ(cache.bytes(), 2 * each);
}

TEST(UnitCache, KeepsATableThatIsLargerThanTheBudgetWhileItIsTheLast) {
  UnitCache cache(1);
  cache.Insert(0, 0, Table());
  EXPECT_TRUE(cache.Has(0, 0));
  cache.Insert(0, 1, Table());
  EXPECT_FALSE(cache.Has(0, 0));
}

TEST(UnitCache, ForgetsAFile) {
  UnitCache cache(1 << 20);
  const uint64_t first = cache.NewFile();
  const uint64_t second = cache.NewFile();
  EXPECT_NE(first, second);
  cache.Insert(first, 7, Table());
  cache.Insert(second, 7, Table());
  cache.Insert(second, 8, Table());
  EXPECT_EQ(cache.files(), 2u);
  cache.Forget(second);
  EXPECT_EQ(cache.files(), 1u);
  EXPECT_TRUE(cache.Has(first, 7));
  EXPECT_FALSE(cache.Has(second, 7));
  EXPECT_FALSE(cache.Has(second, 8));
  cache.Forget(first);
  EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace firetower::symbolizer::dwarf
