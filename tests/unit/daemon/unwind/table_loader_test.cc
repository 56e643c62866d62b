// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/table_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::testing::ElementsAre;
using Outcome = LoadedTable::Outcome;

constexpr uint32_t kPid = 7;

class TableLoaderTest : public ::testing::Test {
 protected:
  ~TableLoaderTest() override { loader_.Stop(); }

  // Requests a file with so many bytes of code, which cannot be opened.
  bool Want(uint32_t module_id, uint64_t code_bytes) {
    Process process;
    process.pid = kPid;
    auto module = std::make_shared<Module>();
    module->kind = ModuleKind::kFile;
    module->path = "/nowhere";
    return loader_.WantTable(module_id, module, process, {0x10000, 0x10000 + code_bytes, 0, 0});
  }
  // Waits for so many answers and returns them in their order; the first is the vDSO's.
  std::vector<uint32_t> Answers(size_t count) {
    loader_.Start([this] { answered_.Notify(); });
    std::vector<uint32_t> ids;
    while (ids.size() < count) {
      if (std::optional<LoadedTable> table = loader_.TryPopTable()) {
        ids.push_back(table->module);
        last_ = table->outcome;
      } else if (!answered_.Wait(60'000)) {
        break;
      }
    }
    return ids;
  }

  FakeProc proc_;
  FakeClock clock_{0, 0};
  WakeFd answered_;
  Outcome last_ = Outcome::kTable;
  TableLoader loader_{proc_.root(), clock_};
};

TEST_F(TableLoaderTest, HasTheVdsosTableFromTheStart) {
  loader_.Start();
  std::optional<LoadedTable> table = loader_.TryPopTable();
  ASSERT_TRUE(table);
  EXPECT_EQ(table->module, ModuleRegistry::kVdso);
  EXPECT_EQ(table->outcome, Outcome::kTable);
  EXPECT_FALSE(table->table.empty());
  EXPECT_FALSE(loader_.TryPopTable());
}

TEST_F(TableLoaderTest, SmallFilesGoFirst) {
  Want(10, 100 << 20);
  Want(11, 4096);
  Want(12, 1 << 20);
  EXPECT_THAT(Answers(4), ElementsAre(ModuleRegistry::kVdso, 11, 12, 10));
}

TEST_F(TableLoaderTest, WhatWaitedLongTakesTurnsWithSmallOnes) {
  Want(10, 100 << 20);
  Want(11, 90 << 20);
  clock_.Advance(TableLoader::kMaxOvertakenNs);
  Want(12, 1 << 20);
  Want(13, 4096);
  Want(14, 8192);
  EXPECT_THAT(Answers(6), ElementsAre(ModuleRegistry::kVdso, 10, 13, 11, 14, 12));
}

TEST_F(TableLoaderTest, AFileThatItsProcessTookAlongIsGone) {
  Want(10, 4096);
  Answers(2);
  EXPECT_EQ(last_, Outcome::kGone);
}

// A compiler's library is large, and each of its processes ends before its turn comes.
TEST_F(TableLoaderTest, WhatCameTooLateForAProcessIsNotBehindSmallOnesForTheNext) {
  Want(10, 100 << 20);
  Answers(2);
  loader_.Stop();
  clock_.Advance(TableLoader::kMaxOvertakenNs);
  Want(11, 4096);
  Want(10, 100 << 20);
  EXPECT_THAT(Answers(3), ElementsAre(ModuleRegistry::kVdso, 10, 11));
}

TEST_F(TableLoaderTest, AFileOfALivingProcessThatDoesNotOpenFailed) {
  proc_.SetProcess(kPid, "app", 1, 1, "00001000-00002000 r-xp 00000000 08:01 5 /nowhere\n");
  Want(10, 4096);
  Answers(2);
  EXPECT_EQ(last_, Outcome::kFailed);
}

TEST_F(TableLoaderTest, NoMoreAreOnTheirWayThanThereIsRoomForAnswers) {
  Answers(1);
  for (size_t i = 0; i < TableLoader::kMaxRequests; ++i) EXPECT_TRUE(Want(10, 4096));
  EXPECT_FALSE(Want(10, 4096));
  while (!loader_.TryPopTable()) answered_.Wait(60'000);
  EXPECT_TRUE(Want(10, 4096));
}

}  // namespace
}  // namespace firetower::daemon
