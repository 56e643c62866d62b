// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/file_stamp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::ScratchFolder;
using ::firetower::testing::WriteText;

Result<FileStamp> StampOf(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return ReadStamp(fd.get());
}

TEST(FileStamp, StaysWhenItsFileIsDeletedAndChangesWithIt) {
  ScratchFolder folder;
  const std::string path = folder.path() + "/app";
  WriteText(path, "one");
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const FileStamp before = StampOf(path).value();
  EXPECT_EQ(ReadStamp(fd.get()).value(), before);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(ReadStamp(fd.get()).value(), before);
  EXPECT_EQ(StatFile(path).error().code(), ErrorCode::kNotFound);
  WriteText(path, "two");
  EXPECT_NE(StampOf(path).value(), before);
}

TEST(FileStamp, IsOfRegularFilesOnly) {
  ScratchFolder folder;
  EXPECT_EQ(StatFile(folder.path()).error().code(), ErrorCode::kInvalid);
}

// A mount that the destructor removes.
class Mount {
 public:
  Mount(const char* type, std::string target, const std::string& options)
      : target_(std::move(target)) {
    std::filesystem::create_directories(target_);
    mounted_ = ::mount(type, target_.c_str(), type, 0, options.c_str()) == 0;
  }
  ~Mount() {
    if (mounted_) ::umount2(target_.c_str(), MNT_DETACH);
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string target_;
  bool mounted_ = false;
};

void Write(const std::string& path) {
  WriteText(path, "text");
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

// Each file system has its own inode numbers, and images have files of one second of 1970.
TEST(FileStamp, TellsFilesOfTwoMemoryFileSystems) {
  ScratchFolder folder;
  const Mount one("tmpfs", folder.path() + "/one", "");
  const Mount two("tmpfs", folder.path() + "/two", "");
  if (!one.mounted() || !two.mounted()) GTEST_SKIP() << "mount needs root";
  Write(folder.path() + "/one/app");
  Write(folder.path() + "/two/app");
  const FileStamp first = StampOf(folder.path() + "/one/app").value();
  const FileStamp second = StampOf(folder.path() + "/two/app").value();
  EXPECT_EQ(first.inode, second.inode) << "what this is about";
  EXPECT_NE(first, second);
}

TEST(FileStamp, IsTheSameInEachContainerOfAnImage) {
  ScratchFolder folder;
  std::filesystem::create_directories(folder.path() + "/image");
  Write(folder.path() + "/image/app");
  std::filesystem::create_directories(folder.path() + "/below");
  const std::string options = "lowerdir=" + folder.path() + "/image:" + folder.path() + "/below";
  const Mount one("overlay", folder.path() + "/one", options);
  const Mount two("overlay", folder.path() + "/two", options);
  if (!one.mounted() || !two.mounted()) GTEST_SKIP() << "mount needs root";
  EXPECT_EQ(StampOf(folder.path() + "/one/app").value(),
            StampOf(folder.path() + "/two/app").value());
}

}  // namespace
}  // namespace firetower::daemon
