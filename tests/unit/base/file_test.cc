// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace firetower {
namespace {

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    char pattern[] = "/tmp/firetower-file-XXXXXX";
    dir_ = mkdtemp(pattern);
  }
  ~FileTest() override { std::filesystem::remove_all(dir_); }
  std::string dir_;
};

TEST_F(FileTest, AtomicWriteReplacesAndLeavesNoTemporaryFile) {
  ASSERT_TRUE(WriteFileAtomic(dir_ + "/a", "one"));
  ASSERT_TRUE(WriteFileAtomic(dir_ + "/a", "two"));
  EXPECT_EQ(ReadFile(dir_ + "/a").value(), "two");
  EXPECT_EQ(ListDirectory(dir_).value(), std::vector<std::string>{"a"});
}

TEST_F(FileTest, AtomicWriteFailsWithThePathWhenTheFolderIsAbsent) {
  Status status = WriteFileAtomic(dir_ + "/no/such", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(status.error().message().find(dir_), std::string::npos);
}

TEST(TemporaryFileOwner, KnowsOnlyWholeNamesOfUnfinishedFiles) {
  EXPECT_EQ(TemporaryFileOwner("a.zip.tmp-4711-2"), 4711);
  EXPECT_EQ(TemporaryFileOwner("a.tmp-b.tmp-1-99"), 1);
  for (const char* name :
       {"", "a", ".tmp-", "a.tmp-", "a.tmp-1", "a.tmp-1-", "a.tmp--1", "a.tmp-x-1", "a.tmp-1-x",
        "a.tmp-1-1.zip", "a.tmp-0-1", "a.tmp-1-1-1", "tmp-1-1", "a.tmp-99999999999-1"}) {
    EXPECT_FALSE(TemporaryFileOwner(name)) << name;
  }
}

TEST_F(FileTest, AtomicWriteHasRoomForItsTemporaryName) {
  EXPECT_EQ(kMaxTemporarySuffixBytes, std::string(".tmp-2147483647-4294967295").size());
  EXPECT_TRUE(WriteFileAtomic(dir_ + "/" + std::string(255 - kMaxTemporarySuffixBytes, 'a'), "x"));
}

TEST_F(FileTest, ReadFileRefusesMoreThanItsBound) {
  ASSERT_TRUE(WriteFileAtomic(dir_ + "/a", "12345"));
  EXPECT_EQ(ReadFile(dir_ + "/a", 4).error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(ReadFile(dir_ + "/a", 5).value(), "12345");
}

TEST_F(FileTest, ReadFileReadsProcFilesWhoseSizeIsZero) {
  EXPECT_NE(ReadFile("/proc/self/status").value().find("Pid:"), std::string::npos);
}

TEST_F(FileTest, ReadFileRefusesWhatMayNeverEnd) {
  const std::string fifo = dir_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ::alarm(10);  // one that waits for a writer must not hold up the others
  for (const std::string& path : {fifo, std::string("/dev/zero"), dir_}) {
    Result<std::string> text = ReadFile(path, 100);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().message(), path + ": not a regular file, so not read");
  }
  ::alarm(0);
}

TEST_F(FileTest, ReadFileOrPipeReadsToTheWritersEnd) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  ASSERT_EQ(::write(writer.get(), "12345", 5), 5);
  writer.reset();
  const std::string path = "/proc/self/fd/" + std::to_string(reader.get());
  EXPECT_EQ(ReadFileOrPipe(path, 5).value(), "12345");
  EXPECT_FALSE(ReadFile(path));
}

TEST_F(FileTest, ReadExactAtTellsAFileThatEndsEarly) {
  ASSERT_TRUE(WriteFileAtomic(dir_ + "/a", "12345"));
  UniqueFd fd = OpenReadOnly(dir_ + "/a").value();
  std::byte out[4];
  EXPECT_TRUE(ReadExactAt(fd.get(), 1, out));
  EXPECT_EQ(ReadExactAt(fd.get(), 2, out).error().code(), ErrorCode::kCorrupt);
}

TEST_F(FileTest, MakeDirectoriesMakesParentsAndRefusesAFileInTheWay) {
  EXPECT_TRUE(MakeDirectories(dir_ + "/x/y/z"));
  EXPECT_TRUE(MakeDirectories(dir_ + "/x/y/z"));
  ASSERT_TRUE(WriteFileAtomic(dir_ + "/f", ""));
  EXPECT_FALSE(MakeDirectories(dir_ + "/f/y"));
  EXPECT_FALSE(MakeDirectories(dir_ + "/f"));
}

}  // namespace
}  // namespace firetower
