// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/name_memo.h"

#include <gtest/gtest.h>

namespace firetower::symbolizer {
namespace {

// Two functions of 16 bytes.
std::shared_ptr<SymbolTable> TableOf(const std::string& first, const std::string& second) {
  const auto offset = static_cast<uint32_t>(first.size() + 1);
  const std::vector<SymbolTable::Range> ranges = {{0, 16, 0, 0}, {16, 16, offset, 16}};
  return std::make_shared<SymbolTable>(0, std::vector<LoadSegment>{{0, 0, 32, true}}, ranges,
                                       first + '\0' + second);
}

class NameMemoTest : public ::testing::Test {
 protected:
  std::string NameAt(const std::shared_ptr<const SymbolTable>& table, uint64_t elf_vaddr) {
    std::vector<SourceFrame> frames;
    EXPECT_TRUE(table->FindFrames(elf_vaddr, frames));
    return memo_.Demangled(memo_.NumberOf(table), frames.front());
  }
  NameMemo memo_;
};

TEST_F(NameMemoTest, TellsTablesApart) {
  auto one = TableOf("_Z3onev", "_Z3twov");
  auto other = TableOf("_Z5threev", "main");
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(NameAt(one, 0), "one()");
    EXPECT_EQ(NameAt(one, 31), "two()");
    EXPECT_EQ(NameAt(other, 0), "three()");
    EXPECT_EQ(NameAt(other, 31), "main");
  }
  EXPECT_EQ(memo_.size(), 4u);
}

TEST_F(NameMemoTest, ANameOfNoTableIsFoundByItsText) {
  EXPECT_EQ(memo_.Demangled("_Z3onev"), "one()");
  EXPECT_EQ(memo_.Demangled(0, SourceFrame{.name = "_Z3onev"}), "one()");
  EXPECT_EQ(memo_.size(), 1u);
}

TEST_F(NameMemoTest, ForgetsWhatIsTooMuch) {
  auto table = TableOf("_Z3onev", "_Z3twov");
  NameAt(table, 0);
  NameAt(table, 16);
  memo_.Trim(2);
  EXPECT_EQ(memo_.size(), 2u);
  memo_.Trim(1);
  EXPECT_EQ(memo_.size(), 0u);
  EXPECT_EQ(NameAt(table, 16), "two()");
}

// Whatever is at a dead table's address is another one.
TEST_F(NameMemoTest, TablesComeAndGo) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = "f" + std::to_string(i);
    EXPECT_EQ(NameAt(TableOf(name, "main"), 0), name);
    if (i % 3 == 0) memo_.Trim(1000);
  }
}

}  // namespace
}  // namespace firetower::symbolizer
