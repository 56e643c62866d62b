// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/cpu_list.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>

#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

std::vector<int> Parsed(std::string_view text) {
  Result<std::vector<int>> cpus = ParseCpuList(text);
  EXPECT_TRUE(cpus) << text << ": " << cpus.error().message();
  return cpus.value_or(std::vector<int>{-1});
}

TEST(CpuList, TakesNumbersAndRanges) {
  EXPECT_EQ(Parsed("0\n"), (std::vector<int>{0}));
  EXPECT_EQ(Parsed("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(Parsed("0-1,4-5,7\n"), (std::vector<int>{0, 1, 4, 5, 7}));
  EXPECT_EQ(Parsed("5-5"), (std::vector<int>{5}));
}

TEST(CpuList, SortsAndDropsRepeats) {
  EXPECT_EQ(Parsed("8,0-3,2-4,0"), (std::vector<int>{0, 1, 2, 3, 4, 8}));
}

TEST(CpuList, AllowsTheEmptyListOfOfflineCpus) { EXPECT_EQ(Parsed("\n"), std::vector<int>{}); }

TEST(CpuList, GoesUpToTheKernelsBound) {
  std::vector<int> all(8192);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(Parsed("0-8191"), all);
}

TEST(CpuList, NamesWhatIsWrong) {
  for (const char* text : {"x", "1,", ",1", "1,,2", "1-", "-1", "3-1", "1-2-3", "8192", "0-8192",
                           "99999999999", "0x1", "1 2", "0-3:1/2"}) {
    Result<std::vector<int>> cpus = ParseCpuList(text);
    ASSERT_FALSE(cpus) << text;
    EXPECT_EQ(cpus.error().code(), ErrorCode::kInvalid) << text;
    EXPECT_FALSE(cpus.error().message().empty()) << text;
  }
}

TEST(CpuList, SurvivesEveryPrefix) {
  constexpr std::string_view kText = "0-3,8,12-15,127\n";
  for (size_t size = 0; size <= kText.size(); ++size) {
    Result<std::vector<int>> cpus = ParseCpuList(kText.substr(0, size));
    if (cpus) {
      EXPECT_LE(cpus->size(), 10u);
    }
  }
}

TEST(PossibleCpuEnd, IsAboveTheLastWhateverLiesBetween) {
  testing::ScratchFolder folder;
  const std::string path = folder.path() + "/devices/system/cpu/possible";
  testing::WriteText(path, "0-1,6\n");
  EXPECT_EQ(PossibleCpuEnd(folder.path()).value_or(-1), 7);
  for (const char* text : {"", "\n", "x\n"}) {
    testing::WriteText(path, text);
    EXPECT_FALSE(PossibleCpuEnd(folder.path())) << text;
  }
  EXPECT_FALSE(PossibleCpuEnd(folder.path() + "/nowhere"));
  EXPECT_GE(PossibleCpuEnd("/sys").value_or(0), ::sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace
}  // namespace firetower::daemon
