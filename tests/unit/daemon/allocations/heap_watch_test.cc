// SPDX-License-Identifier: Apache-2.0
#include "daemon/allocations/heap_watch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "tests/support/command.h"
#include "tests/support/fake_proc.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::WriteText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Counts what is probed, and calls as often as the test says.
class FakePrograms : public AllocPrograms {
 public:
  Status AddProcess(uint32_t pid, const Wish& wish) override {
    added[pid] = wish.sample_bytes;
    in_use = wish.in_use;
    return OkStatus();
  }
  void RemoveProcess(uint32_t pid) override { removed += added.erase(pid); }
  size_t ForgetRemoved() override { return std::exchange(removed, 0); }
  Result<std::vector<UniqueFd>> Probe(uint32_t pid, int,
                                      std::span<const AllocatorFunction> functions,
                                      bool returns) override {
    EXPECT_EQ(returns, in_use);
    if (refuses) return ErrnoError("perf_event_open", EACCES);
    probed.push_back(pid);
    std::vector<UniqueFd> fds;
    for (size_t i = 0; i < functions.size(); ++i)
      fds.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return fds;
  }
  uint64_t Calls(uint32_t pid) const override {
    const auto found = calls.find(pid);
    return found == calls.end() ? 0 : found->second;
  }
  AllocCounters Counters() const override { return {}; }
  uint64_t MapBytes() const override { return 0; }

  bool refuses = false;
  bool in_use = false;                // of the last process
  size_t removed = 0;                 // whose allocations are not forgotten
  std::map<uint32_t, int64_t> added;  // sample_bytes by pid
  std::vector<uint32_t> probed;
  std::map<uint32_t, uint64_t> calls;
};

class HeapWatchTest : public ::testing::Test {
 protected:
  HeapWatchTest() {
    WriteText(mount_.path() + "/a/cgroup.procs", "7\n");
    auto container = std::make_shared<Container>();
    container->root_path = "/a";
    targets_ = {{container, {.sample_bytes = 4096}, {"shop/memory"}}};
    SetProgram(7, true, 100);
  }

  // A process whose program is an allocator, or not.
  void SetProgram(uint32_t pid, bool allocates, uint64_t start_ticks) {
    using symbolizer::ElfBuilder;
    ElfBuilder builder;
    builder.AddCode(0x401000, 0x100);
    builder.AddSymbols(SHT_SYMTAB, {{allocates ? "malloc" : "main", 0x401000, 8}});
    // Under a new name, so that it is another file.
    const std::string file = fmt::format("{}/program-{}", proc_.root(), ++files_);
    WriteText(file, builder.Build());
    proc_.SetStat(pid, start_ticks);
    proc_.SetMaps(pid,
                  "00401000-00402000 r-xp 00001000 08:01 " + std::to_string(files_) + " /bin/x\n");
    const std::string link = proc_.Of(pid) + "/map_files/401000-402000";
    std::filesystem::create_directories(proc_.Of(pid) + "/map_files");
    for (const std::string& path : {link, proc_.Of(pid) + "/exe"}) {
      std::filesystem::remove(path);
      std::filesystem::create_symlink(file, path);
    }
  }
  void Look(int64_t after_ns = 250 * kNsPerMs) {
    now_ns_ += after_ns;
    watch_.Look(now_ns_, targets_, {"/a"});
  }

  FakeProc proc_;
  ScratchFolder mount_;
  ProcFs fs_{proc_.root()};
  FakePrograms programs_;
  std::vector<uint32_t> ended_;
  HeapWatch watch_{programs_, fs_, mount_.path(), [this](uint32_t pid) { ended_.push_back(pid); }};
  std::vector<HeapTarget> targets_;
  int64_t now_ns_ = 1000 * kNsPerSecond;
  int files_ = 0;
};

TEST_F(HeapWatchTest, ProbesEachProcessOnce) {
  Look();
  Look();
  EXPECT_THAT(programs_.probed, ElementsAre(7));
  EXPECT_THAT(programs_.added, ElementsAre(Pair(7, 4096)));
  EXPECT_EQ(watch_.probed(), 1u);
  WriteText(mount_.path() + "/a/cgroup.procs", "7\n8\n");
  SetProgram(8, true, 101);
  Look();
  EXPECT_THAT(programs_.probed, ElementsAre(7, 8));
}

TEST_F(HeapWatchTest, LeavesProcessesThatEndOrAreNoTargets) {
  Look();
  WriteText(mount_.path() + "/a/cgroup.procs", "");
  Look();
  EXPECT_THAT(programs_.added, IsEmpty());
  WriteText(mount_.path() + "/a/cgroup.procs", "7\n");
  Look();
  EXPECT_EQ(watch_.probed(), 1u);
  targets_.clear();
  Look();
  EXPECT_THAT(programs_.added, IsEmpty());
  EXPECT_EQ(watch_.probed(), 0u);
}

TEST_F(HeapWatchTest, ProbesANewProgramOrProcessOfThatNumberAnew) {
  Look();
  SetProgram(7, true, 100);
  Look();
  EXPECT_THAT(programs_.probed, ElementsAre(7, 7)) << "it has called exec";
  SetProgram(7, true, 500);
  Look();
  EXPECT_THAT(programs_.probed, ElementsAre(7, 7, 7)) << "it is another process";
}

TEST_F(HeapWatchTest, WaitsForAnAllocatorOfAYoungProcess) {
  SetProgram(7, false, 100);
  Look();
  EXPECT_THAT(programs_.added, IsEmpty()) << "nothing of it can be counted";
  SetProgram(7, true, 100);
  std::filesystem::remove(proc_.Of(7) + "/exe");
  std::filesystem::create_symlink(proc_.root() + "/program-2", proc_.Of(7) + "/exe");
  Look();
  EXPECT_THAT(programs_.probed, ElementsAre(7));
}

TEST_F(HeapWatchTest, TakesNewBytes) {
  Look();
  targets_[0].wish.sample_bytes = 1 << 20;
  Look();
  EXPECT_THAT(programs_.added, ElementsAre(Pair(7, 1 << 20)));
}

TEST_F(HeapWatchTest, TellsWhenWhatIsInUseIsNotKnownAnyMore) {
  Look();
  targets_[0].wish.in_use = true;
  Look();
  EXPECT_TRUE(programs_.in_use);
  EXPECT_THAT(programs_.probed, ElementsAre(7, 7)) << "other functions are probed, too";
  EXPECT_THAT(ended_, IsEmpty()) << "it was not known before";
  targets_[0].wish.sample_bytes = 1 << 20;
  Look();
  EXPECT_THAT(ended_, ElementsAre(7));
  WriteText(mount_.path() + "/a/cgroup.procs", "");
  Look();
  EXPECT_THAT(ended_, ElementsAre(7, 7));
  EXPECT_EQ(programs_.removed, 0u);
}

TEST_F(HeapWatchTest, ProbesNoReturnsWhereThatEndsAProcess) {
  targets_[0].wish.in_use = true;
  WriteText(proc_.Of(7) + "/status", "Name:\tx\nx86_Thread_features:\tshstk \nSeccomp:\t0\n");
  Look();
  EXPECT_THAT(programs_.probed, IsEmpty());
  ASSERT_EQ(watch_.LeftOut().size(), 1u);
  EXPECT_THAT(DescribeLeftOut(watch_.LeftOut()).at("shop/memory").message,
              HasSubstr("a) b (c) (7) are not sampled: it runs with a shadow stack"));
  WriteText(proc_.Of(7) + "/status", "Name:\tx\nx86_Thread_features:\t\nSeccomp:\t0\n");
  Look(HeapWatch::kRestNs);
  EXPECT_EQ(watch_.probed(), 1u);
  HeapWatch unsafe(programs_, fs_, mount_.path(), nullptr, false);
  unsafe.Look(now_ns_, targets_, {"/a"});
  EXPECT_EQ(unsafe.probed(), 0u);
  EXPECT_THAT(DescribeLeftOut(unsafe.LeftOut()).at("shop/memory").message,
              HasSubstr("Linux 6.11 to 6.13"));
  targets_[0].wish.in_use = false;
  unsafe.Look(now_ns_ += HeapWatch::kRestNs, targets_, {"/a"});
  EXPECT_EQ(unsafe.probed(), 1u) << "allocations are safe everywhere";
}

TEST_F(HeapWatchTest, LeavesAProcessThatIsTooBusyAlone) {
  Look();
  programs_.calls[7] = HeapWatch::kMaxCallsPerSecond / 4;
  Look(kNsPerSecond / 4);
  EXPECT_EQ(watch_.probed(), 1u) << "just as many as it may";
  programs_.calls[7] += HeapWatch::kMaxCallsPerSecond / 4 + 1000;
  Look(kNsPerSecond / 4);
  EXPECT_EQ(watch_.probed(), 0u);
  EXPECT_THAT(programs_.added, IsEmpty());
  const std::vector<LeftOutHeap> busy = watch_.LeftOut();
  ASSERT_EQ(busy.size(), 1u);
  EXPECT_EQ(busy[0].pid, 7u);
  EXPECT_EQ(busy[0].calls_per_second, HeapWatch::kMaxCallsPerSecond + 4000);
  const auto faults = DescribeLeftOut(busy);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults.at("shop/memory").reason, "AllocationsTooFrequent");
  EXPECT_THAT(faults.at("shop/memory").message, HasSubstr("a) b (c) (7)"));
  Look(HeapWatch::kRestNs - kNsPerSecond);
  EXPECT_EQ(watch_.probed(), 0u);
  programs_.calls.clear();
  Look(kNsPerSecond);
  EXPECT_EQ(watch_.probed(), 1u) << "it may be calmer by now";
  EXPECT_THAT(watch_.LeftOut(), IsEmpty());
}

TEST_F(HeapWatchTest, SaysWhatWasRefused) {
  programs_.refuses = true;
  Look();
  Look();
  const auto faults = DescribeLeftOut(watch_.LeftOut());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults.at("shop/memory").reason, "AllocationsRefused");
  EXPECT_THAT(faults.at("shop/memory").message, HasSubstr("perf_event_open"));
  EXPECT_THAT(programs_.added, IsEmpty());
  programs_.refuses = false;
  Look(HeapWatch::kRestNs);
  EXPECT_EQ(watch_.probed(), 1u);
  EXPECT_THAT(watch_.LeftOut(), IsEmpty());
}

}  // namespace
}  // namespace firetower::daemon
