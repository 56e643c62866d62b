// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perfmap/perf_map_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "tests/support/open_watch.h"

namespace firetower::symbolizer {
namespace {

using ::firetower::testing::OpenWatch;

// A tree in the shape of /proc: process 4242, whose pid in its container is 7, and its root.
class PerfMapFileTest : public ::testing::Test {
 protected:
  PerfMapFileTest() {
    char pattern[] = "/tmp/firetower-perfmap-XXXXXX";
    proc_ = mkdtemp(pattern);
    tmp_ = proc_ + "/4242/root/tmp";
    std::filesystem::create_directories(tmp_);
    Write(proc_ + "/4242/status", "Name:\tnode\nPid:\t4242\nNSpid:\t4242\t31\t7\nThreads:\t1\n");
  }
  ~PerfMapFileTest() override { std::filesystem::remove_all(proc_); }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  PerfMapFile Open() { return PerfMapFile::ForProcess(proc_, 4242).value(); }

  std::string proc_;
  std::string tmp_;
};

TEST_F(PerfMapFileTest, IsFoundByThePidInsideTheContainer) {
  Write(tmp_ + "/perf-4242.map", "1000 10 another_process\n");
  Write(tmp_ + "/perf-7.map", "1000 10 ours\n");
  PerfMapFile file = Open();
  EXPECT_EQ(file.inner_path(), "/tmp/perf-7.map");
  EXPECT_EQ(file.map(), nullptr);
  EXPECT_TRUE(file.Refresh().value());
  EXPECT_EQ(file.map()->Find(0x1000)->name, "ours");
}

TEST_F(PerfMapFileTest, IsReadAgainOnlyWhenItHasChanged) {
  Write(tmp_ + "/perf-7.map", "1000 10 one\n");
  PerfMapFile file = Open();
  ASSERT_TRUE(file.Refresh().value());
  auto first = file.map();
  EXPECT_FALSE(file.Refresh().value());
  EXPECT_EQ(file.map(), first);
  std::ofstream(tmp_ + "/perf-7.map", std::ios::app) << "2000 10 two\n";
  EXPECT_TRUE(file.Refresh().value());
  EXPECT_EQ(file.map()->Find(0x2000)->name, "two");
  EXPECT_EQ(first->range_count(), 1u);  // held by a reader, unchanged
}

TEST_F(PerfMapFileTest, AbsentIsNotFoundAndKeepsTheLastGoodOne) {
  PerfMapFile file = Open();
  EXPECT_EQ(file.Refresh().error().code(), ErrorCode::kNotFound);
  Write(tmp_ + "/perf-7.map", "1000 10 one\n");
  ASSERT_TRUE(file.Refresh().value());
  std::filesystem::remove(tmp_ + "/perf-7.map");
  EXPECT_EQ(file.Refresh().error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(file.map()->Find(0x1000)->name, "one");
}

TEST_F(PerfMapFileTest, ALinkInItsPlaceIsRefused) {
  Write(proc_ + "/secret", "1000 10 secret\n");
  std::filesystem::create_symlink(proc_ + "/secret", tmp_ + "/perf-7.map");
  EXPECT_FALSE(Open().Refresh());
}

TEST_F(PerfMapFileTest, AFolderLinkResolvesInsideTheProcessRoot) {
  // An absolute link: inside the root it is the root's, outside it would be ours.
  char pattern[] = "/var/tmp/firetower-perfmap-XXXXXX";
  const std::string target = mkdtemp(pattern);
  Write(target + "/perf-7.map", "1000 10 outside\n");
  std::filesystem::remove(tmp_);
  std::filesystem::create_directory_symlink(target, tmp_);
  std::filesystem::create_directories(proc_ + "/4242/root" + target);
  PerfMapFile file = Open();
  EXPECT_EQ(file.Refresh().error().code(), ErrorCode::kNotFound);
  Write(proc_ + "/4242/root" + target + "/perf-7.map", "1000 10 inside\n");
  ASSERT_TRUE(file.Refresh().value());
  EXPECT_EQ(file.map()->Find(0x1000)->name, "inside");
  std::filesystem::remove_all(target);
}

TEST_F(PerfMapFileTest, OnlyARegularFileOfBoundedSizeIsRead) {
  ASSERT_EQ(::mkfifo((tmp_ + "/perf-7.map").c_str(), 0600), 0);
  EXPECT_EQ(Open().Refresh().error().code(), ErrorCode::kInvalid);  // and does not hang
  std::filesystem::remove(tmp_ + "/perf-7.map");
  Write(tmp_ + "/perf-7.map", "");
  std::filesystem::resize_file(tmp_ + "/perf-7.map", PerfMap::kMaxFileBytes + 1);
  EXPECT_EQ(Open().Refresh().error().code(), ErrorCode::kExhausted);
}

TEST_F(PerfMapFileTest, ADeviceInItsPlaceIsNotOpened) {
  // Major 1, minor 3 is null, whose open does no harm where this fails; a watchdog's would.
  if (::mknod((tmp_ + "/perf-7.map").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "mknod needs CAP_MKNOD";
  }
  OpenWatch watch(tmp_);
  EXPECT_FALSE(Open().Refresh());
  EXPECT_FALSE(watch.Opened());
}

TEST_F(PerfMapFileTest, AFileThatGoesOnAsAHoleIsNotReadToItsEnd) {
  Write(tmp_ + "/perf-7.map", "1000 10 one\n");
  std::filesystem::resize_file(tmp_ + "/perf-7.map", PerfMap::kMaxFileBytes);
  PerfMapFile file = Open();
  ASSERT_TRUE(file.Refresh().value());
  EXPECT_EQ(file.map()->range_count(), 1u);
  EXPECT_LT(file.read_bytes(), 1u << 20);
}

TEST_F(PerfMapFileTest, AFileOfNonsenseIsNotReadToItsEnd) {
  Write(tmp_ + "/perf-7.map", "1000 10 one\n" + std::string(8u << 20, '\n'));
  PerfMapFile file = Open();
  ASSERT_TRUE(file.Refresh().value());
  EXPECT_EQ(file.map()->range_count(), 1u);
  EXPECT_LT(file.read_bytes(), 1u << 20);
}

TEST_F(PerfMapFileTest, ALineWithoutEndCostsTimeByItsLengthOnly) {
  // CPU time, so that a busy machine does not count. Reading these bytes takes some 20 ms; looking
  // at all of them again for each chunk that is read took 0.8 s.
  auto seconds = [this](size_t size) {
    Write(tmp_ + "/perf-7.map", std::string(size, 'x') + "\n1000 10 one\n");
    PerfMapFile file = Open();
    timespec begin{}, end{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    EXPECT_TRUE(file.Refresh().value());
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    EXPECT_EQ(file.map()->range_count(), 1u);
    EXPECT_EQ(file.map()->dropped_lines(), 1u);
    return static_cast<double>(end.tv_sec - begin.tv_sec) +
           static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
  };
  EXPECT_LT(seconds(32u << 20), 0.35);
}

TEST_F(PerfMapFileTest, OfNoProcessIsNotFound) {
  EXPECT_EQ(PerfMapFile::ForProcess(proc_, 1).error().code(), ErrorCode::kNotFound);
}

TEST(PerfMapFileOfARealProcess, IsFoundThroughProc) {
  std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  std::ofstream(path) << "1000 10 self\n";
  auto file = PerfMapFile::ForProcess("/proc", ::getpid());
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->Refresh().value());
  EXPECT_EQ(file->map()->Find(0x1000)->name, "self");
  std::filesystem::remove(path);
}

TEST(InnermostPid, IsTheLastOfItsLine) {
  EXPECT_EQ(InnermostPid("Name:\tx\nNSpid:\t12\t3\nx").value(), 3);
  EXPECT_EQ(InnermostPid("NSpid:\t12").value(), 12);
  for (const char* bad : {"", "Pid:\t1\n", "NSpid:\n", "NSpid:\tx\n", "NSpid:\t-1\n", "NSpid:\t0\n",
                          "NSpid:\t99999999999\n", "NSpid:\t1x\n", "XNSpid:\t1\n"}) {
    EXPECT_FALSE(InnermostPid(bad)) << bad;
  }
}

}  // namespace
}  // namespace firetower::symbolizer
