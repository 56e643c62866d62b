// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/proc_fs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::testing::ElementsAre;

// proc_pid_maps(5): address, permissions, offset, device, inode, padding, path.
const std::string kMaps =
    "55d0c8a00000-55d0c8a21000 r--p 00000000 fe:01 1049                       /usr/bin/app\n"
    "55d0c8a21000-55d0c8b00000 r-xp 00021000 fe:01 1049                       /usr/bin/app\n"
    "55d0c9000000-55d0c9100000 rw-p 00000000 00:00 0                          [heap]\n"
    "7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \n"
    "7f1000000000-7f1000010000 r-xp 00010000 103:02 77                        /opt/my app/lib "
    "x.so\n"
    "7f2000000000-7f2000010000 r-xs 00000000 00:05 88                         /memfd:jit "
    "(deleted)\n"
    "7f3000000000-7f3000001000 r-xp 00000000 fe:01 99                         /tmp/gone (deleted)\n"
    "7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

std::vector<std::string> Paths(const std::vector<MapsLine>& lines) {
  std::vector<std::string> paths;
  for (const MapsLine& line : lines) paths.push_back(line.path);
  return paths;
}

TEST(ParseMaps, TakesExecutableLinesOnly) {
  EXPECT_THAT(Paths(ParseMaps(kMaps)),
              ElementsAre("/usr/bin/app", "", "/opt/my app/lib x.so", "/memfd:jit", "/tmp/gone",
                          "[vdso]", "[vsyscall]"));
}

TEST(ParseMaps, TakesAllLinesIfAskedTo) {
  const std::vector<MapsLine> all = ParseAllMaps(kMaps);
  size_t executable = 0;
  for (const MapsLine& line : all) executable += line.executable;
  EXPECT_EQ(executable, ParseMaps(kMaps).size());
  EXPECT_GT(all.size(), executable);
}

TEST(ParseMaps, ReadsEveryField) {
  std::vector<MapsLine> lines = ParseMaps(kMaps);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0].start, 0x55d0c8a21000u);
  EXPECT_EQ(lines[0].end, 0x55d0c8b00000u);
  EXPECT_EQ(lines[0].file_offset, 0x21000u);
  EXPECT_EQ(lines[0].device, uint64_t{0xfe} << 32 | 1);
  EXPECT_EQ(lines[0].inode, 1049u);
  EXPECT_EQ(lines[2].device, uint64_t{0x103} << 32 | 2);
  EXPECT_EQ(lines[6].end, 0xffffffffff601000u);
}

TEST(ParseMaps, KeepsAPathThatOnlyLooksOdd) {
  std::vector<MapsLine> lines = ParseMaps(
      "1000-2000 r-xp 00000000 fe:01 5   /tmp/a\\012b (deleted) (deleted)\n"
      "3000-4000 r-xp 00000000 fe:01 5   /tmp/ends in blanks  \n"
      "5000-6000 r-xp 00000000 fe:01 5   /tmp/\xff\xfe\n");
  EXPECT_THAT(Paths(lines),
              ElementsAre("/tmp/a\\012b (deleted)", "/tmp/ends in blanks  ", "/tmp/\xff\xfe"));
}

TEST(ParseMaps, LeavesOutLinesThatMakeNoSense) {
  std::vector<MapsLine> lines = ParseMaps(
      "\n"
      "not a mapping\n"
      "2000-1000 r-xp 00000000 fe:01 5   /backwards\n"
      "1000-1000 r-xp 00000000 fe:01 5   /empty\n"
      "1000-2000\n"
      "1000-2000 r-x\n"
      "1000-2000 r-xp 0000000g fe:01 5   /offset\n"
      "1000-2000 r-xp 00000000 fe-01 5   /device\n"
      "1000-2000 r-xp 00000000 fe:01 x   /inode\n"
      "11112222333344445-2000 r-xp 00000000 fe:01 5 /long\n"
      "7000-8000 r-xp 00000000 fe:01 5   /good");
  EXPECT_THAT(Paths(lines), ElementsAre("/good"));
}

TEST(ParseMaps, SurvivesEveryPrefix) {
  const std::vector<MapsLine> whole = ParseMaps(kMaps);
  for (size_t size = 0; size <= kMaps.size(); ++size) {
    std::vector<MapsLine> lines = ParseMaps(std::string_view(kMaps).substr(0, size));
    ASSERT_LE(lines.size(), whole.size());
    // All but the last, which may be cut, are those of the whole text.
    for (size_t i = 0; i + 1 < lines.size(); ++i) {
      EXPECT_EQ(lines[i].start, whole[i].start);
      EXPECT_EQ(lines[i].path, whole[i].path);
    }
  }
}

TEST(ProcFs, ReadsWhatAProcessIs) {
  FakeProc fake;
  fake.SetProcess(42, "fifteen_letters", 7, 3, kMaps);
  fake.SetThread(42, 43, "worker 1");
  ProcFs proc(fake.root());
  const Result<ProcessStat> stat = proc.Stat(42);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->comm, "fifteen_letters");
  EXPECT_EQ(stat->threads, 3u);
  EXPECT_EQ(stat->parent, 7u);
  EXPECT_EQ(*proc.ThreadComm(42, 43), "worker 1");
  EXPECT_EQ(proc.Maps(42)->size(), 7u);
}

// Text of Linux 6.18 with another command.
const std::string kStat =
    "2717 (a) b (c)) S 16 2717 16 34816 2700 4194304 92 0 0 0 1 2 3 4 20 0 5 0 17342 3936256 "
    "487 18446744073709551615 94 95 140 0 0 0 0 2 65536 1 0 0 17 1 0 0 0 0 0 1 2 3 1 2 3 4 0\n";

TEST(ParseStat, TakesACommandOfAnyForm) {
  const std::optional<ProcessStat> stat = ParseStat(kStat);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->comm, "a) b (c)");
  EXPECT_EQ(stat->parent, 16u);
  EXPECT_EQ(stat->threads, 5u);
  EXPECT_EQ(stat->start_ticks, 17342u);
}

TEST(ParseStat, EveryTruncationIsNothingOrTheSame) {
  const size_t after_start = kStat.find(" 0 17342") + 9;
  for (size_t size = 0; size <= kStat.size(); ++size) {
    const std::optional<ProcessStat> stat = ParseStat(std::string_view(kStat).substr(0, size));
    EXPECT_EQ(stat.has_value(), size >= after_start) << size;
    if (stat) {
      EXPECT_EQ(stat->threads, 5u);
      EXPECT_EQ(stat->start_ticks, 17342u);
    }
  }
}

TEST(ParseStat, RefusesWhatIsNoNumber) {
  for (const char* text : {"1 (a) S -1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 5 0",
                           "1 (a) S 1x 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 5 0",
                           "1 )a( S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 5 0",
                           "1 (a) S 99999999999 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 5 0",
                           "1 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 -5 0"}) {
    EXPECT_FALSE(ParseStat(text)) << text;
  }
}

TEST(ProcFs, ListsNumericFoldersOnly) {
  FakeProc fake;
  for (uint32_t pid : {1u, 22u, 4194303u}) fake.SetProcess(pid, "x", 0, 1, "");
  for (const char* other : {"self", "sys", "1x", "-2", "99999999999"}) {
    testing::WriteText(fake.root() + "/" + other + "/comm", "x");
  }
  EXPECT_THAT(ProcFs(fake.root()).Pids(), ::testing::UnorderedElementsAre(1, 22, 4194303));
}

TEST(ProcFs, AnswersForAProcessThatIsGone) {
  FakeProc fake;
  ProcFs proc(fake.root());
  EXPECT_FALSE(proc.Maps(42));
  EXPECT_FALSE(proc.Stat(42));
  EXPECT_FALSE(proc.ThreadComm(42, 43));
  EXPECT_TRUE(ProcFs(fake.root() + "/nowhere").Pids().empty());
}

TEST(ProcFs, AgreesWithTheKernelAboutThisProcess) {
  ProcFs proc("/proc");
  auto pid = static_cast<uint32_t>(::getpid());
  const Result<ProcessStat> stat = proc.Stat(pid);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, static_cast<uint32_t>(::getppid()));
  EXPECT_EQ(stat->threads, 1u);
  char comm[16] = {};
  ASSERT_EQ(::prctl(PR_GET_NAME, comm), 0);
  EXPECT_EQ(stat->comm, comm);
  auto here = reinterpret_cast<uint64_t>(&ParseMaps);
  Result<std::vector<MapsLine>> lines = proc.Maps(pid);
  ASSERT_TRUE(lines);
  EXPECT_TRUE(std::any_of(lines->begin(), lines->end(), [&](const MapsLine& line) {
    return line.start <= here && here < line.end && line.inode != 0;
  }));
}

}  // namespace
}  // namespace firetower::daemon
