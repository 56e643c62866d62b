// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perfmap/perf_map_cache.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/fake_proc.h"

namespace firetower::symbolizer {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::WriteText;

// Processes of the root pid namespace, each with a start time.
class PerfMapCacheTest : public ::testing::Test {
 protected:
  void SetProcess(pid_t pid, uint64_t start_ticks = 1000) {
    auto number = static_cast<uint32_t>(pid);
    proc_.SetStat(number, start_ticks);
    WriteText(proc_.Of(number) + "/status", fmt::format("Pid:\t{0}\nNSpid:\t{0}\n", pid));
  }
  void SetMap(pid_t pid, const std::string& text) { WriteText(MapPath(pid), text); }
  std::string MapPath(pid_t pid) const {
    return fmt::format("{}/{}/root/tmp/perf-{}.map", proc_.root(), pid, pid);
  }
  // A map of `functions` functions, called <prefix>0, <prefix>1, …, at 0x1000, 0x1010, ….
  static std::string Functions(const std::string& prefix, int functions) {
    std::string text;
    for (int i = 0; i < functions; ++i) {
      text += fmt::format("{:x} 10 {}{}\n", 0x1000 + i * 0x10, prefix, i);
    }
    return text;
  }
  static size_t BytesOf(const std::string& text) { return PerfMap::Parse(text).bytes(); }
  static std::string NameAt(PerfMapCache& cache, pid_t pid, uint64_t abs_addr) {
    PerfMapCache::Found found = cache.Load(pid);
    if (found.map == nullptr) return "none";
    auto symbol = found.map->Find(abs_addr);
    return std::string(symbol ? symbol->name : "-");
  }

  FakeProc proc_;
};

TEST_F(PerfMapCacheTest, AReusedPidHasNamesOfItsOwnOnly) {
  PerfMapCache cache(proc_.root());
  SetProcess(7, 1000);
  SetMap(7, "1000 10 first\n");
  EXPECT_EQ(NameAt(cache, 7, 0x1000), "first");
  proc_.End(7);
  cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, 7, 0x1000), "first") << "its last samples are named";
  SetProcess(7, 1001);
  cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, 7, 0x1000), "none");
  EXPECT_EQ(cache.counters().bytes, 0u);
  SetMap(7, "1000 10 second\n");
  for (int i = 0; i < 2; ++i) cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, 7, 0x1000), "second");
}

TEST_F(PerfMapCacheTest, OneSliceSeesOneState) {
  PerfMapCache cache(proc_.root());
  SetProcess(7);
  SetMap(7, "1000 10 first\n");
  EXPECT_EQ(NameAt(cache, 7, 0x1000), "first");
  SetMap(7, "1000 10 first\n2000 10 second\n");
  EXPECT_EQ(NameAt(cache, 7, 0x2000), "-");
  EXPECT_TRUE(cache.Load(7).later);
  cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, 7, 0x2000), "second");
  cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, 7, 0x2000), "second");
  EXPECT_EQ(cache.counters().reads, 2u);
}

TEST_F(PerfMapCacheTest, WhatNobodyAsksForMakesRoomOldestFirst) {
  const size_t map_bytes = BytesOf(Functions("f", 100));
  PerfMapCache cache(proc_.root(), 2 * map_bytes);
  for (pid_t pid : {1, 2, 3}) {
    SetProcess(pid);
    SetMap(pid, Functions("f", 100));
  }
  EXPECT_EQ(NameAt(cache, 1, 0x1000), "f0");
  cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, 2, 0x1000), "f0");
  cache.BeginSlice();
  cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, 3, 0x1000), "f0");
  EXPECT_EQ(cache.counters().bytes, 2 * map_bytes);
  EXPECT_EQ(NameAt(cache, 2, 0x1000), "f0");
  EXPECT_EQ(cache.counters().reads, 3u) << "1 had to go, not 2";
}

TEST_F(PerfMapCacheTest, MoreMapsThanFitAreNotParsedInEverySlice) {
  constexpr pid_t kProcesses = 10;
  const size_t map_bytes = BytesOf(Functions("f", 100));
  PerfMapCache cache(proc_.root(), 4 * map_bytes);
  for (pid_t pid = 1; pid <= kProcesses; ++pid) {
    SetProcess(pid);
    SetMap(pid, Functions("f", 100));
  }
  for (uint64_t slice = 0; slice < PerfMapCache::kRefusedSlices; ++slice) {
    int named = 0;
    for (pid_t pid = 1; pid <= kProcesses; ++pid) named += NameAt(cache, pid, 0x1000) == "f0";
    EXPECT_EQ(named, 4);
    EXPECT_LE(cache.counters().bytes, 4 * map_bytes);
    cache.BeginSlice();
  }
  EXPECT_EQ(cache.counters().reads, uint64_t{kProcesses});
}

TEST_F(PerfMapCacheTest, ALargeMapGoesForSmallOnes) {
  const size_t small_bytes = BytesOf(Functions("f", 100));
  PerfMapCache cache(proc_.root(), BytesOf(Functions("f", 1000)) + small_bytes / 2);
  SetProcess(1);
  SetMap(1, Functions("f", 1000));
  SetProcess(2);
  SetMap(2, Functions("f", 100));
  EXPECT_EQ(NameAt(cache, 1, 0x1000), "f0");
  EXPECT_EQ(NameAt(cache, 2, 0x1000), "f0");
  EXPECT_EQ(NameAt(cache, 1, 0x1000), "none");
  EXPECT_EQ(cache.counters().bytes, small_bytes);
}

TEST_F(PerfMapCacheTest, ReadsNoMoreThanItsBytesASlice) {
  PerfMapCache cache(proc_.root());
  // Three files of 6 MB, of 8 MB a slice: the second one goes over, the third waits.
  const std::string text = "1000 10 f\n" + std::string(6u << 20, 'x') + "\n";
  for (pid_t pid : {1, 2, 3}) {
    SetProcess(pid);
    SetMap(pid, text);
  }
  EXPECT_EQ(NameAt(cache, 1, 0x1000), "f");
  EXPECT_EQ(NameAt(cache, 2, 0x1000), "f");
  EXPECT_EQ(NameAt(cache, 3, 0x1000), "none");
  EXPECT_TRUE(cache.Load(3).later);
  EXPECT_EQ(cache.counters().waits, 1u);
  cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, 3, 0x1000), "f");
}

TEST_F(PerfMapCacheTest, ChangingFilesTakeTurns) {
  PerfMapCache cache(proc_.root());
  // Two slices' worth of bytes in four files that change all the time: each is read in its turn,
  // also the one that is always asked for last.
  const std::string text = "1000 10 f\n" + std::string(5u << 20, 'x') + "\n";
  for (size_t slice = 0; slice < 16; ++slice) {
    for (pid_t pid : {1, 2, 3, 4}) {
      if (slice == 0) SetProcess(pid);
      SetMap(pid, fmt::format("2000 10 at{}\n", slice) + text + std::string(slice + 1, '\n'));
      cache.Load(pid);
    }
    cache.BeginSlice();
  }
  const std::string last = NameAt(cache, 4, 0x2000);
  ASSERT_TRUE(last.starts_with("at"));
  EXPECT_GE(std::stoi(last.substr(2)), 8);
  EXPECT_LE(cache.counters().reads, 30u) << "16 slices of 8 MB are 25 files of 5 MB";
}

TEST_F(PerfMapCacheTest, AProcessWithoutAFileIsLookedAtEverMoreRarely) {
  PerfMapCache cache(proc_.root());
  SetProcess(7);
  EXPECT_EQ(NameAt(cache, 7, 0x1000), "none");
  EXPECT_FALSE(cache.Load(7).later);
  for (uint64_t slice = 0; slice < 4 * PerfMapCache::kMaxAbsentSlices; ++slice) {
    cache.BeginSlice();
    cache.Load(7);
  }
  SetMap(7, "1000 10 f\n");
  uint64_t slices = 0;
  while (NameAt(cache, 7, 0x1000) == "none" && slices < 1000) {
    cache.BeginSlice();
    ++slices;
  }
  EXPECT_LE(slices, PerfMapCache::kMaxAbsentSlices);
}

TEST_F(PerfMapCacheTest, ForgetsWhoNobodyAsksFor) {
  PerfMapCache cache(proc_.root());
  SetProcess(7);
  SetMap(7, "1000 10 f\n");
  cache.Load(7);
  for (uint64_t slice = 0; slice <= PerfMapCache::kUnusedSlices; ++slice) cache.BeginSlice();
  EXPECT_EQ(cache.counters().processes, 0u);
  EXPECT_EQ(cache.counters().bytes, 0u);
}

TEST_F(PerfMapCacheTest, HoldsItsNumberOfProcesses) {
  PerfMapCache cache(proc_.root());
  constexpr auto kMax = static_cast<pid_t>(PerfMapCache::kMaxProcesses);
  SetProcess(kMax + 2);
  SetMap(kMax + 2, "1000 10 f\n");
  for (pid_t pid = 1; pid <= kMax + 1; ++pid) cache.Load(pid);
  EXPECT_EQ(NameAt(cache, kMax + 2, 0x1000), "none") << "all others are in use";
  cache.BeginSlice();
  EXPECT_EQ(NameAt(cache, kMax + 2, 0x1000), "f");
  EXPECT_EQ(cache.counters().processes, PerfMapCache::kMaxProcesses);
}

// proc_pid_stat(5): the command is in brackets and may hold brackets and blanks itself.
TEST(StartTicks, IsField22) {
  const std::string text =
      "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654321 1000 20 30\n";
  EXPECT_EQ(StartTicks(text).value(), 987654321u);
  for (size_t length = 0; length < text.find("987654321") + 9; ++length) {
    EXPECT_FALSE(StartTicks(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(StartTicks("7 (a) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 x 1000\n"));
}

TEST(StartTicks, OfARealProcessIsThere) {
  EXPECT_GT(ReadStartTicks("/proc", ::getpid()).value(), 0u);
  EXPECT_EQ(ReadStartTicks("/nonexistent", 1).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace firetower::symbolizer
