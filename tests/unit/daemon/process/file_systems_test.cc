// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/file_systems.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/unique_fd.h"
#include "tests/support/fake_proc.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::WriteText;
using Kind = FileSystems::Kind;

constexpr uint64_t Device(uint64_t major, uint64_t minor) { return major << 32 | minor; }

class FileSystemsTest : public ::testing::Test {
 protected:
  void Mount(const std::string& text) { WriteText(proc_.Of(7) + "/mountinfo", text); }

  FakeProc proc_;
  FakeClock clock_{kNsPerSecond, 0};
  FileSystems systems_{proc_.root(), clock_};
};

// proc_pid_mountinfo(5): optional fields end with a hyphen.
TEST_F(FileSystemsTest, AreTheTypesOfMountinfo) {
  Mount(
      "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
      "37 36 0:21 / /dev/shm rw - tmpfs shm rw\n"
      "38 36 0:22 / / rw shared:7 master:2 - overlay overlay rw,lowerdir=/l\n"
      "39 36 0:23 / /mnt/a\\040-\\040b rw shared:1 - fuse.sshfs host: rw\n"
      "40 36 0:24 / /nfs rw - nfs4 server:/ rw\n");
  EXPECT_EQ(systems_.Of(7, Device(98, 0)), Kind::kLocal);
  EXPECT_EQ(systems_.Of(7, Device(0, 21)), Kind::kMemory);
  EXPECT_EQ(systems_.Of(7, Device(0, 22)), Kind::kLocal);
  EXPECT_EQ(systems_.Of(7, Device(0, 23)), Kind::kOther);
  EXPECT_EQ(systems_.Of(7, Device(0, 24)), Kind::kOther);
}

// Below an overlay, before Linux 6.5: the machine has the disk mounted, the container has not.
TEST_F(FileSystemsTest, ADeviceThatTheProcessDoesNotShowIsAsTheMachineHasIt) {
  Mount("36 35 98:0 / / rw - ext3 /dev/root rw\n");
  WriteText(proc_.Of(1) + "/mountinfo",
            "36 35 8:1 / / rw - xfs /dev/sda1 rw\n"
            "37 36 8:17 / /mnt rw - fuseblk /dev/sdb1 rw\n"
            "38 36 0:30 / /nfs rw - nfs4 server:/ rw\n");
  EXPECT_EQ(systems_.Of(7, Device(8, 1)), Kind::kLocal);
  EXPECT_EQ(systems_.Of(7, Device(8, 17)), Kind::kOther) << "FUSE of a block device";
  EXPECT_EQ(systems_.Of(7, Device(0, 30)), Kind::kOther);
  EXPECT_EQ(systems_.Of(8, Device(8, 1)), Kind::kLocal) << "its process has gone";
}

TEST_F(FileSystemsTest, ADeviceThatNobodyShowsIsUnknown) {
  Mount("36 35 98:0 / / rw - ext3 /dev/root rw\n");
  EXPECT_EQ(systems_.Of(7, Device(8, 1)), Kind::kOther) << "a disk's, or FUSE's";
  EXPECT_EQ(systems_.Of(7, Device(0, 99)), Kind::kOther) << "a server's that was unmounted";
  EXPECT_EQ(systems_.Of(1, Device(8, 1)), Kind::kOther);
}

TEST_F(FileSystemsTest, KnowsTheMountOfMemoryFiles) {
  const UniqueFd fd(::memfd_create("test", MFD_CLOEXEC));
  struct stat info {};
  ASSERT_EQ(::fstat(fd.get(), &info), 0);
  EXPECT_EQ(systems_.Of(7, Device(major(info.st_dev), minor(info.st_dev))), Kind::kMemory);
}

TEST_F(FileSystemsTest, ForgetsAfterAMinute) {
  Mount("36 35 0:21 / / rw - tmpfs shm rw\n");
  EXPECT_EQ(systems_.Of(7, Device(0, 21)), Kind::kMemory);
  Mount("36 35 0:21 / / rw - fuse host: rw\n");
  EXPECT_EQ(systems_.Of(7, Device(0, 21)), Kind::kMemory);
  clock_.Advance(FileSystems::kKeepNs);
  EXPECT_EQ(systems_.Of(7, Device(0, 21)), Kind::kOther) << "the number is another's";
}

TEST_F(FileSystemsTest, LinesThatMakeNoSenseAreLeftOut) {
  Mount("\n36\n36 35 x:y / / rw - tmpfs\n36 35 0:5 / / rw\n 1 2 0:6\n36 35 0:7 / / rw - tmpfs");
  EXPECT_EQ(systems_.Of(7, Device(0, 5)), Kind::kOther);
  EXPECT_EQ(systems_.Of(7, Device(0, 7)), Kind::kMemory);
}

}  // namespace
}  // namespace firetower::daemon
