// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/go/go_rows.h"

#include <gtest/gtest.h>

#include "tests/unit/symbolizer/support/go_builder.h"
#include "tests/unit/symbolizer/support/row_list.h"

namespace firetower::symbolizer {
namespace {

using Cfa = UnwindRule::Cfa;
using Place = UnwindRule::Place;
using std::string_literals::operator""s;

// push rbp; mov rbp, rsp; sub rsp, 16; nop × 7; add rsp, 16; pop rbp; ret
const std::string kCode =
    "\x55\x48\x89\xe5\x48\x83\xec\x10\x90\x90\x90\x90\x90\x90\x90\x48\x83\xc4\x10\x5d\xc3"s;
const GoValueList kDepths = {{0, 1}, {8, 7}, {24, 11}, {8, 1}, {0, 1}};

TestGoFunction Framed(const std::string& name) {
  return {.name = name, .code = kCode, .depths = kDepths};
}
UnwindRule FromRsp(int32_t offset, bool saved) {
  UnwindRule rule;
  rule.cfa = Cfa::kRegister;
  rule.cfa_offset = offset;
  if (saved) {
    rule.rbp = Place::kCfa;
    rule.rbp_offset = -16;
  }
  return rule;
}

class GoRowsTest : public ::testing::TestWithParam<TestGoFile::Version> {};

TEST_P(GoRowsTest, FollowTheStackDepth) {
  TestGoFile file(GetParam());
  const uint64_t begin = file.Add(Framed("main.f"));
  const LoadedRows loaded = LoadRows(file.Build());
  ASSERT_TRUE(loaded.status) << loaded.status.error().message();
  EXPECT_EQ(loaded.rows, (std::vector<UnwindRow>{{begin, FromRsp(8, false)},
                                                 {begin + 1, FromRsp(16, true)},
                                                 {begin + 8, FromRsp(32, true)},
                                                 {begin + 19, FromRsp(16, true)},
                                                 {begin + 20, FromRsp(8, false)},
                                                 {begin + 21, UnwindRule{}}}));
  EXPECT_EQ(loaded.stats.go_functions, 1u);
}

TEST_P(GoRowsTest, GiveWayToEhFrame) {
  TestGoFile file(GetParam());
  file.Add(Framed("main.f"));
  const uint64_t c_code = file.Add({.name = "_cgo_f", .code = kCode, .depths = kDepths});
  const uint64_t last = file.Add(Framed("main.g"));
  FrameBuilder frames(FrameBuilder::Format::kEhFrame, TestGoFile::kEhFrame);
  frames.AddCie();
  frames.AddFde(c_code, kCode.size(), CfiBytes().Raw("\x0e\x30"));  // CFA = RSP + 48
  file.AddFrames(FrameBuilder::Format::kEhFrame, frames.str());
  const LoadedRows loaded = LoadRows(file.Build());
  EXPECT_EQ(RowAt(loaded.rows, c_code - 1).rule, FromRsp(8, false));
  EXPECT_EQ(RowAt(loaded.rows, c_code).rule, FromRsp(48, false));
  EXPECT_EQ(RowAt(loaded.rows, c_code + 20).rule, FromRsp(48, false));
  EXPECT_EQ(RowAt(loaded.rows, last + 8).rule, FromRsp(32, true));
}

TEST_P(GoRowsTest, GoOnInsideOfAFunctionThatAnFdeCuts) {
  TestGoFile file(GetParam());
  const uint64_t begin = file.Add(Framed("main.f"));
  FrameBuilder frames(FrameBuilder::Format::kEhFrame, TestGoFile::kEhFrame);
  frames.AddCie();
  frames.AddFde(begin + 4, 6, CfiBytes().Raw("\x0e\x30"));
  file.AddFrames(FrameBuilder::Format::kEhFrame, frames.str());
  const LoadedRows loaded = LoadRows(file.Build());
  EXPECT_EQ(RowAt(loaded.rows, begin + 3).rule, FromRsp(16, true));
  EXPECT_EQ(RowAt(loaded.rows, begin + 9).rule, FromRsp(48, false));
  EXPECT_EQ(RowAt(loaded.rows, begin + 10).rule, FromRsp(32, true));
  EXPECT_EQ(RowAt(loaded.rows, begin + 20).rule, FromRsp(8, false));
}

TEST_P(GoRowsTest, ArePreferredToDebugFrame) {
  TestGoFile file(GetParam());
  const uint64_t begin = file.Add(Framed("main.f"));
  FrameBuilder frames(FrameBuilder::Format::kDebugFrame, TestGoFile::kDebugFrame);
  TestCie cie;
  cie.augmentation = "";
  cie.augmentation_data = CfiBytes();
  frames.AddCie(cie);
  frames.AddFde(begin, kCode.size(), CfiBytes().Raw("\x0e\x30"));
  frames.AddFde(begin + 0x100, 16, CfiBytes().Raw("\x0e\x30"));  // C
  file.AddFrames(FrameBuilder::Format::kDebugFrame, frames.str());
  const LoadedRows loaded = LoadRows(file.Build());
  EXPECT_EQ(RowAt(loaded.rows, begin).rule, FromRsp(8, false));
  EXPECT_EQ(RowAt(loaded.rows, begin + 0x80).rule, UnwindRule{});
  EXPECT_EQ(RowAt(loaded.rows, begin + 0x100).rule, FromRsp(48, false));
}

TEST_P(GoRowsTest, EndAtTheRootOfAStack) {
  TestGoFile file(GetParam());
  const uint64_t root = file.Add(
      {.name = "runtime.goexit", .code = "\x90\xe8\x00\x00\x00\x00\x90"s, .depths = {{0, 7}}});
  const LoadedRows loaded = LoadRows(file.Build());
  EXPECT_EQ(RowAt(loaded.rows, root).rule.return_address, Place::kUndefined);
}

TEST_P(GoRowsTest, BeginOneByteBeforeASignalsReturn) {
  TestGoFile file(GetParam());
  const uint64_t before = file.Add(Framed("main.f"));
  // mov rax, 15; syscall; int3
  const uint64_t begin = file.Add({.name = "runtime.sigreturn__sigaction",
                                   .code = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05\xcc"s,
                                   .depths = {{0, 10}}});
  const LoadedRows loaded = LoadRows(file.Build());
  EXPECT_EQ(RowAt(loaded.rows, before + 20).rule, FromRsp(8, false));
  EXPECT_EQ(RowAt(loaded.rows, begin - 2).rule, FromRsp(8, false));
  EXPECT_TRUE(RowAt(loaded.rows, begin - 1).rule.signal_frame);
  EXPECT_TRUE(RowAt(loaded.rows, begin + 9).rule.signal_frame);
}

TEST_P(GoRowsTest, HaveNothingOfAFunctionWithoutDepths) {
  TestGoFile file(GetParam());
  file.Add(Framed("main.f"));
  const uint64_t bare = file.Add({.name = "main.bare", .code = kCode, .depths = {}});
  file.Add(Framed("main.g"));
  EXPECT_EQ(RowAt(LoadRows(file.Build()).rows, bare + 8).rule, UnwindRule{});
}

TEST_P(GoRowsTest, LeaveOutADamagedRecord) {
  TestGoFile file(GetParam());
  const uint64_t first = file.Add(Framed("main.f"));
  const uint64_t second = file.Add(Framed("main.g"));
  const uint64_t third = file.Add(Framed("main.h"));
  std::string bytes = file.Build();
  // The second entry's offset of its record, behind two words of the first and its own address.
  uint64_t functions = 0;
  const bool old = GetParam() == TestGoFile::Version::kGo116;
  const uint64_t table = TestGoFile::kTable - 0x400000;
  std::memcpy(&functions, bytes.data() + table + (old ? 56 : 64), 8);
  bytes[table + functions + (old ? 24 : 12)] ^= 8;
  const LoadedRows loaded = LoadRows(bytes);
  EXPECT_EQ(loaded.stats.bad_go_functions, 1u);
  EXPECT_EQ(RowAt(loaded.rows, first + 8).rule, FromRsp(32, true));
  EXPECT_EQ(RowAt(loaded.rows, second + 8).rule, UnwindRule{});
  EXPECT_EQ(RowAt(loaded.rows, third + 8).rule, FromRsp(32, true));
}

TEST_P(GoRowsTest, SurviveATruncatedFile) {
  TestGoFile file(GetParam());
  file.Add(Framed("main.f"));
  file.Add({.name = "runtime.goexit", .code = "\x90"s, .depths = {{0, 1}}});
  const std::string bytes = file.Build();
  const std::string table = file.BuildTable();
  // Without section headers the table reaches as far as the file does.
  file.LeaveOutSectionHeaders();
  const std::string bare = file.Build();
  const size_t begin = TestGoFile::kTable - 0x400000;
  for (size_t size = begin; size <= begin + table.size(); ++size) {
    LoadRows(bare.substr(0, size));
    std::string zeroed = bytes;
    std::fill(zeroed.begin() + static_cast<ptrdiff_t>(size),
              zeroed.begin() + static_cast<ptrdiff_t>(begin + table.size()), '\0');
    LoadRows(zeroed);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, GoRowsTest,
                         ::testing::Values(TestGoFile::Version::kGo116, TestGoFile::Version::kGo118,
                                           TestGoFile::Version::kGo120),
                         VersionName);

}  // namespace
}  // namespace firetower::symbolizer
