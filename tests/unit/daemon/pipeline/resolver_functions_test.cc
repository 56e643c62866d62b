// SPDX-License-Identifier: Apache-2.0
// Frames of an interpreter in stack bodies: where they stand, and what names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bpf/abi/runtime.h"
#include "tests/unit/daemon/pipeline/resolver_fixture.h"
#include "tests/unit/daemon/runtimes/function_records.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::AddBody;
using ::firetower::testing::FunctionOf;
using ::firetower::testing::RecordOf;
using ::testing::ElementsAre;

constexpr uint64_t kAddress = 0x7f0000001000;
constexpr uint64_t kWhere = uint64_t{5} << 32;  // cookie 5, the first instruction
constexpr uint64_t kFrame = FT_WORD_FRAME | kAddress;

class ResolverFunctionsTest : public ResolverTest {
 protected:
  void AddFunction(uint32_t tgid) {
    ft_function function = FunctionOf(40);
    function.tgid = tgid;
    function.code = kAddress;
    function.cookie = 5;
    const std::vector<std::byte> record = RecordOf(function, "");
    round_.functions.insert(round_.functions.end(), record.begin(), record.end());
    round_.function_ends.push_back(static_cast<uint32_t>(round_.functions.size()));
  }
  std::vector<Frame> FramesOf(std::vector<uint64_t> user, uint8_t stop = FT_STOP_ROOT) {
    Start(7);
    AddFunction(7);
    AddBody(round_, {.hash = 1, .tgid = 7, .user = std::move(user), .stop = stop});
    Sample(1, kApp, 7);
    Process();
    const auto frames = FramesOfRow(0);
    return {frames.begin(), frames.end()};
  }
  // The app's mapping begins at 0x10000 with offset 0x3000.
  static Frame Native(uint64_t address) {
    return {ModuleRegistry::kFirstFile, 0, address - 0x10000 + 0x3000};
  }
};

const Frame kFunction{ModuleRegistry::kPython, 0, uint64_t{1} << 32 | 40};
const Frame kUnnamed{ModuleRegistry::kPython, 0, 0};

TEST_F(ResolverFunctionsTest, ReplaceTheLoopThatRanThem) {
  // A leaf in C, the loop, its caller: the walk met the runtime with the leaf.
  EXPECT_THAT(FramesOf({0x10100, kFrame, kWhere, 0x10200, FT_WORD_JOIN, 0x10300}),
              ElementsAre(Native(0x10100), kFunction, Native(0x102ff)));
}

TEST_F(ResolverFunctionsTest, BeginAStackWhoseLeafIsTheLoop) {
  EXPECT_THAT(FramesOf({0x10100, kFrame, kWhere, FT_WORD_JOIN, 0x10300}),
              ElementsAre(kFunction, Native(0x102ff)));
}

TEST_F(ResolverFunctionsTest, StandWithTheirOwnRuns) {
  EXPECT_THAT(FramesOf({0x10100, kFrame, kWhere, kFrame, kWhere, FT_WORD_JOIN, 0x10200, kFrame, 7,
                        0x10300, FT_WORD_JOIN, 0x10400}),
              ElementsAre(kFunction, kFunction, Native(0x101ff), kUnnamed, Native(0x103ff)))
      << "the second run's frame has another cookie";
}

// Before CPython 3.11. The innermost loop has not begun its frame, so the outermost has none left.
TEST_F(ResolverFunctionsTest, BelongToTheNextLoopWhereTheInnermostHasNone) {
  const uint64_t join = FT_WORD_JOIN;
  EXPECT_THAT(FramesOf({0x10100, kFrame, kWhere, join, 0x10200, 0x10300, kFrame, 7, join, 0x10400,
                        0x10500, join, 0x10600}),
              ElementsAre(Native(0x101ff), kFunction, Native(0x103ff), kUnnamed, Native(0x105ff)));
  EXPECT_EQ(StopOfRow(0), FT_STOP_ROOT);
}

// PHP: a loop runs several frames, and one that has just ended its last has none.
TEST_F(ResolverFunctionsTest, MoveAsWholeRuns) {
  const uint64_t join = FT_WORD_JOIN;
  EXPECT_THAT(FramesOf({0x10100, kFrame, kWhere, kFrame, 7, join, 0x10200, 0x10300, join, 0x10400}),
              ElementsAre(Native(0x101ff), kFunction, kUnnamed, Native(0x103ff)));
}

TEST_F(ResolverFunctionsTest, GoOnWithWhoRunsAFiber) {
  EXPECT_THAT(FramesOf({0x10100, kFrame, kWhere, FT_WORD_JOIN, 0x10200, FT_WORD_STACK, kFrame, 7}),
              ElementsAre(kFunction, Native(0x101ff), kUnnamed));
  EXPECT_EQ(StopOfRow(0), FT_STOP_ROOT);
}

TEST_F(ResolverFunctionsTest, OfPhpHaveItsModule) {
  EXPECT_THAT(FramesOf({0x10100, FT_WORD_PHP_FRAME | kAddress, kWhere, FT_WORD_JOIN, 0x10200}),
              ElementsAre(Frame{ModuleRegistry::kPhp, 0, kFunction.offset}, Native(0x101ff)));
}

TEST_F(ResolverFunctionsTest, LeaveALoopWithoutAnyAsItIs) {
  EXPECT_THAT(FramesOf({0x10100, FT_WORD_JOIN, 0x10300}),
              ElementsAre(Native(0x10100), Native(0x102ff)));
}

TEST_F(ResolverFunctionsTest, FollowWhatAWalkFoundThatEndedBeforeTheLoop) {
  EXPECT_THAT(FramesOf({0x10100, kFrame, kWhere, 0x10200}, FT_STOP_FRAME_POINTER),
              ElementsAre(Native(0x10100), Native(0x101ff), kFunction));
}

TEST_F(ResolverFunctionsTest, CutAStackWhoseWalkNeverCameToTheLoop) {
  FramesOf({0x10100, kFrame, kWhere, 0x10200});
  EXPECT_EQ(StopOfRow(0), FT_STOP_FRAME_POINTER);
}

TEST_F(ResolverFunctionsTest, AreLeftOutWhereTheirPlaceIsNotKnown) {
  EXPECT_THAT(FramesOf({0x10100, kFrame, kWhere, 0x10200}, FT_STOP_COLD),
              ElementsAre(Native(0x10100), Native(0x101ff)));
}

TEST_F(ResolverFunctionsTest, GoToTheSliceWithTheirNames) {
  FramesOf({0x10100, kFrame, kWhere, FT_WORD_JOIN, 0x10300});
  Slice slice;
  resolver_.TakeFunctions(slice);
  ASSERT_EQ(slice.functions.size(), 1u);
  EXPECT_EQ(slice.functions[0].id, 1u);
  EXPECT_EQ(slice.functions[0].function->name, "f");
}

TEST_F(ResolverFunctionsTest, CountARecordThatIsNone) {
  Start(7);
  round_.functions.resize(20);
  round_.function_ends.push_back(20);
  Process();
  EXPECT_EQ(resolver_.bad_records(), 1u);
}

}  // namespace
}  // namespace firetower::daemon
