// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/function_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bpf/abi/unwind.h"
#include "tests/unit/daemon/runtimes/function_records.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FunctionOf;
using ::firetower::testing::RecordOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kCode = 0x7f0000001000;

// One entry for each code unit: the first says the function's line, the next one the line after it.
constexpr std::string_view kLines("\x80\x00\xd8\x00\x00", 5);

class FunctionTableTest : public ::testing::Test {
 protected:
  void Add(uint32_t tgid, uint32_t cookie, uint32_t first_line, uint32_t epoch = 1) {
    ft_function function = FunctionOf(first_line);
    function.tgid = tgid;
    function.code = kCode;
    function.cookie = cookie;
    function.epoch = epoch;
    EXPECT_TRUE(table_.Add(RecordOf(function, kLines)));
  }
  FunctionTable::Place Find(uint32_t tgid, uint32_t cookie, uint32_t position = 0) const {
    return table_.Find(tgid, ft_identity(0, 0), FT_WORD_FRAME | kCode,
                       uint64_t{cookie} << 32 | position);
  }
  std::vector<NumberedFunction> New() {
    std::vector<NumberedFunction> functions;
    table_.TakeNew(functions);
    return functions;
  }
  std::vector<uint32_t> Gone() {
    std::vector<uint32_t> gone;
    table_.TakeGone(gone);
    return gone;
  }

  FunctionTable table_;
};

TEST_F(FunctionTableTest, FindsAFunctionAndItsLine) {
  Add(7, 5, 40);
  EXPECT_EQ(Find(7, 5).function, 1u);
  EXPECT_EQ(Find(7, 5).line, 40u);
  EXPECT_EQ(Find(7, 5, 2).line, 41u);
  const auto functions = New();
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].id, 1u);
  EXPECT_EQ(*functions[0].function, (RuntimeFunction{"f", "/app.py", 40}));
  EXPECT_THAT(New(), IsEmpty());
}

TEST_F(FunctionTableTest, NamesNoOther) {
  Add(7, 5, 40);
  EXPECT_EQ(Find(7, 6).function, 0u) << "another object lies there";
  EXPECT_EQ(Find(8, 5).function, 0u) << "another process";
  EXPECT_EQ(table_.Find(7, 99, FT_WORD_FRAME | kCode, uint64_t{5} << 32).function, 0u)
      << "another image of that process";
}

TEST_F(FunctionTableTest, HasOneNumberForAFunctionOfManyProcesses) {
  for (uint32_t tgid = 1; tgid <= 50; ++tgid) Add(tgid, tgid, 40);
  Add(60, 1, 41);
  EXPECT_EQ(table_.size(), 2u);
  EXPECT_EQ(Find(50, 50).function, 1u);
  EXPECT_EQ(Find(60, 1).function, 2u);
}

TEST_F(FunctionTableTest, ForgetsWhatTwoEpochsDidNotName) {
  Add(7, 5, 40);
  Add(7, 6, 41);
  Add(7, 6, 41, 2);
  EXPECT_EQ(Find(7, 5).function, 1u) << "bodies of the epoch before are still here";
  EXPECT_THAT(Gone(), IsEmpty());
  Add(7, 6, 41, 3);
  EXPECT_EQ(Find(7, 5).function, 0u);
  EXPECT_EQ(Find(7, 6).function, 2u);
  EXPECT_THAT(Gone(), ElementsAre(1u));
  Add(7, 5, 40, 3);
  EXPECT_EQ(Find(7, 5).function, 3u) << "a number means one function for ever";
  Add(7, 9, 50, 1);
  EXPECT_EQ(Find(7, 9).function, 0u) << "of an epoch that is over";
}

// The stack of a wait that began hours ago.
TEST_F(FunctionTableTest, KeepsWhatABodyNamesThatIsStillToCome) {
  const uint64_t body[] = {0x1000, FT_WORD_FRAME | kCode, uint64_t{5} << 32, FT_WORD_JOIN, 0x2000};
  Add(7, 5, 40);
  for (uint32_t epoch = 2; epoch < 9; ++epoch) {
    table_.Keep(7, ft_identity(0, 0), body);
    Add(8, 1, 41, epoch);
    EXPECT_EQ(Find(7, 5).function, 1u) << epoch;
  }
  EXPECT_THAT(Gone(), IsEmpty());
  Add(8, 1, 41, 9);
  Add(8, 1, 41, 10);
  EXPECT_EQ(Find(7, 5).function, 0u) << "nobody keeps it any more";
}

}  // namespace
}  // namespace firetower::daemon
