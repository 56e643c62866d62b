// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/foreign_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>

#include "base/file.h"
#include "tests/support/fake_proc.h"
#include "tests/support/open_watch.h"

namespace firetower::symbolizer {
namespace {

using ::firetower::testing::OpenWatch;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::WriteText;

class ForeignFileTest : public ::testing::Test {
 protected:
  ForeignFileTest() { std::filesystem::create_directories(root() + "/tmp"); }

  std::string root() const { return folder_.path() + "/root"; }
  Result<UniqueFd> Open(const std::string& path, LastLink last_link = LastLink::kFollow) const {
    return OpenForeignBelow(root(), path, kMaxBytes, last_link);
  }
  ErrorCode Refusal(const std::string& path) const {
    Result<UniqueFd> fd = Open(path);
    return fd ? ErrorCode::kInternal : fd.error().code();
  }

  static constexpr uint64_t kMaxBytes = 100;
  ScratchFolder folder_;
};

TEST_F(ForeignFileTest, OpensARegularFileForReadingOnly) {
  WriteText(root() + "/tmp/map", "text");
  Result<UniqueFd> fd = Open("tmp/map");
  ASSERT_TRUE(fd) << fd.error().message();
  EXPECT_EQ(ReadFd(fd->get()).value(), "text");
  int flags = ::fcntl(fd->get(), F_GETFL);
  EXPECT_EQ(flags & O_ACCMODE, O_RDONLY);
  EXPECT_TRUE(flags & O_NONBLOCK);
  EXPECT_TRUE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC);
  EXPECT_EQ(ReadFd(OpenForeign(root() + "/tmp/map", kMaxBytes).value().get()).value(), "text");
}

TEST_F(ForeignFileTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(Refusal("tmp/map"), ErrorCode::kNotFound);
  EXPECT_EQ(OpenForeignBelow(folder_.path() + "/none", "tmp/map", 1).error().code(),
            ErrorCode::kNotFound);
  EXPECT_EQ(OpenForeign(root() + "/none", 1).error().code(), ErrorCode::kNotFound);
}

TEST_F(ForeignFileTest, NeverOpensADevice) {
  // The memory device's null: a driver whose open is harmless, in case this test fails.
  if (::mknod((root() + "/tmp/map").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "mknod needs CAP_MKNOD";
  }
  OpenWatch watch(root() + "/tmp");
  EXPECT_EQ(Refusal("tmp/map"), ErrorCode::kInvalid);
  EXPECT_EQ(OpenForeign(root() + "/tmp/map", kMaxBytes).error().code(), ErrorCode::kInvalid);
  EXPECT_FALSE(watch.Opened());
}

TEST_F(ForeignFileTest, NeverOpensAFifoOrAFolder) {
  ASSERT_EQ(::mkfifo((root() + "/tmp/map").c_str(), 0600), 0);
  std::filesystem::create_directory(root() + "/tmp/folder");
  OpenWatch watch(root() + "/tmp");
  EXPECT_EQ(Refusal("tmp/map"), ErrorCode::kInvalid);
  EXPECT_EQ(Refusal("tmp/folder"), ErrorCode::kInvalid);
  EXPECT_FALSE(watch.Opened());
}

TEST_F(ForeignFileTest, SeesWhatWasOpened) {
  WriteText(root() + "/tmp/map", "text");
  OpenWatch watch(root() + "/tmp");
  ASSERT_TRUE(Open("tmp/map"));
  EXPECT_TRUE(watch.Opened()) << "the watch of the other tests must be able to tell";
}

TEST_F(ForeignFileTest, ALinkLeadsNowhereOutOfTheRoot) {
  WriteText(folder_.path() + "/outside", "outside");
  std::filesystem::create_symlink(folder_.path() + "/outside", root() + "/tmp/absolute");
  std::filesystem::create_symlink("../../../../outside", root() + "/tmp/upwards");
  EXPECT_EQ(Refusal("tmp/absolute"), ErrorCode::kNotFound);
  EXPECT_EQ(Refusal("tmp/upwards"), ErrorCode::kNotFound);
  EXPECT_EQ(Refusal("../outside"), ErrorCode::kNotFound);
  WriteText(root() + folder_.path() + "/outside", "inside");
  EXPECT_EQ(ReadFd(Open("tmp/absolute").value().get()).value(), "inside");
}

TEST_F(ForeignFileTest, ALinkInTheFilesPlaceCanBeRefused) {
  WriteText(root() + "/tmp/other", "text");
  std::filesystem::create_symlink("other", root() + "/tmp/map");
  EXPECT_TRUE(Open("tmp/map"));
  EXPECT_EQ(Open("tmp/map", LastLink::kRefuse).error().code(), ErrorCode::kInvalid);
}

TEST_F(ForeignFileTest, SizesAreBoundedAndNotZero) {
  WriteText(root() + "/tmp/map", "");
  EXPECT_EQ(Refusal("tmp/map"), ErrorCode::kInvalid);
  std::filesystem::resize_file(root() + "/tmp/map", kMaxBytes);
  EXPECT_TRUE(Open("tmp/map"));
  std::filesystem::resize_file(root() + "/tmp/map", kMaxBytes + 1);
  EXPECT_EQ(Refusal("tmp/map"), ErrorCode::kExhausted);
}

TEST_F(ForeignFileTest, FilesOfTheKernelAreNotOpened) {
  // /sys/kernel/notes has a size and may be read by anybody: only its file system tells.
  struct stat info {};
  ASSERT_EQ(::stat("/sys/kernel/notes", &info), 0);
  ASSERT_GT(info.st_size, 0);
  EXPECT_EQ(OpenForeign("/sys/kernel/notes", 1u << 20).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(OpenForeignBelow("/", "sys/kernel/notes", 1u << 20).error().code(),
            ErrorCode::kInvalid);
  EXPECT_EQ(OpenForeignBelow("/", "proc/version", 1u << 20).error().code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace firetower::symbolizer
