// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/module_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/support/fake_proc.h"
#include "tests/support/open_watch.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::OpenWatch;
using ::firetower::testing::WriteText;

// Process 7, which has mapped /lib/x.so at 0x1000.
class ModuleFileTest : public ::testing::Test {
 protected:
  ModuleFileTest() {
    for (const std::string& folder : {lib_, maps_}) std::filesystem::create_directories(folder);
    module_->kind = ModuleKind::kFile;
    module_->path = "/lib/x.so";
    mapped_.module = module_;
    mapped_.pid = 7;
    mapped_.start = 0x1000;
    mapped_.end = 0x2000;
  }
  static uint64_t InodeOf(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
  }
  ErrorCode Refusal() const {
    auto source = OpenModuleFile(proc_.root(), mapped_);
    return source ? ErrorCode::kInternal : source.error().code();
  }

  FakeProc proc_;
  const std::string lib_ = proc_.Of(7) + "/root/lib";
  const std::string maps_ = proc_.Of(7) + "/map_files";
  std::shared_ptr<Module> module_ = std::make_shared<Module>();
  MappedModule mapped_;
};

TEST_F(ModuleFileTest, IsTheMappedOneFirst) {
  WriteText(proc_.root() + "/deleted", "four");
  std::filesystem::create_symlink(proc_.root() + "/deleted", maps_ + "/1000-2000");
  WriteText(lib_ + "/x.so", "another");
  module_->inode = InodeOf(proc_.root() + "/deleted");
  auto source = OpenModuleFile(proc_.root(), mapped_);
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ(source->size(), 4u);
}

// Stands for a daemon without CAP_DAC_READ_SEARCH, and for a refusal of SELinux: the file may be
// there.
TEST_F(ModuleFileTest, TellsARefusalFromAFileThatIsNotThere) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: cannot become another user";
  WriteText(lib_ + "/x.so", "four");
  module_->inode = InodeOf(lib_ + "/x.so");
  ::chmod(lib_.c_str(), 0700);
  ::chmod(maps_.c_str(), 0700);
  ::chmod(proc_.root().c_str(), 0755);
  ASSERT_EQ(::seteuid(65534), 0);
  const ErrorCode refused = Refusal();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(refused, ErrorCode::kPermission);
  std::filesystem::remove(lib_ + "/x.so");
  EXPECT_EQ(Refusal(), ErrorCode::kNotFound);
}

// Its process has called exec, or loaded another library in its place, since it was mapped.
TEST_F(ModuleFileTest, IsNotWhatElseIsMappedThereByNow) {
  WriteText(proc_.root() + "/other", "another one");
  std::filesystem::create_symlink(proc_.root() + "/other", maps_ + "/1000-2000");
  module_->inode = InodeOf(proc_.root() + "/other") + 1;
  EXPECT_EQ(Refusal(), ErrorCode::kUnavailable) << "another process may show it";
  WriteText(lib_ + "/x.so", "four");
  module_->inode = InodeOf(lib_ + "/x.so");
  auto source = OpenModuleFile(proc_.root(), mapped_);
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ(source->size(), 4u);
}

// runc's own libraries, once it has become a container's first process.
TEST_F(ModuleFileTest, IsNotKnownToAProcessThatRunsAnotherProgramByNow) {
  EXPECT_EQ(Refusal(), ErrorCode::kNotFound);
  WriteText(proc_.Of(7) + "/maps", "00001000-00002000 r-xp 00000000 08:01 77 /bin/other\n");
  EXPECT_EQ(Refusal(), ErrorCode::kUnavailable) << "another process may show it";
  WriteText(proc_.Of(7) + "/maps", "");
  EXPECT_EQ(Refusal(), ErrorCode::kUnavailable) << "it ends";
}

// overlayfs may give the opened file another number than its mapping has.
TEST_F(ModuleFileTest, IsTheMappedOneIfItsMappingSaysSo) {
  WriteText(proc_.root() + "/upper", "four");
  std::filesystem::create_symlink(proc_.root() + "/upper", maps_ + "/1000-2000");
  module_->inode = InodeOf(proc_.root() + "/upper") + 1;
  const auto maps = [&](const std::string& range, uint64_t inode) {
    WriteText(proc_.Of(7) + "/maps",
              range + " r-xp 00000000 08:01 " + std::to_string(inode) + " /lib/x.so\n");
  };
  maps("00001000-00002000", module_->inode);
  EXPECT_TRUE(OpenModuleFile(proc_.root(), mapped_));
  maps("00001000-00002000", module_->inode + 1);
  EXPECT_EQ(Refusal(), ErrorCode::kUnavailable);
  maps("00001000-00003000", module_->inode);
  EXPECT_EQ(Refusal(), ErrorCode::kUnavailable);
}

// Its code was moved to other memory, or its mapping cut: its data is still the file's.
TEST_F(ModuleFileTest, IsWhatAnotherMappingOfItsPathIs) {
  WriteText(proc_.root() + "/deleted", "four");
  std::filesystem::create_symlink(proc_.root() + "/deleted", maps_ + "/3000-4000");
  module_->inode = InodeOf(proc_.root() + "/deleted");
  WriteText(proc_.Of(7) + "/maps",
            "00001000-00002000 r-xp 00000000 00:00 0\n"
            "00003000-00004000 rw-p 00002000 08:01 " +
                std::to_string(module_->inode) + " /lib/x.so (deleted)\n");
  auto source = OpenModuleFile(proc_.root(), mapped_);
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ(source->size(), 4u);
  ++module_->inode;
  EXPECT_EQ(Refusal(), ErrorCode::kNotFound);
}

// For its unwind table any file with the build id is as good.
TEST_F(ModuleFileTest, HasTheStampThatWasMappedIfItsNamesAreWanted) {
  symbolizer::ElfBuilder builder;
  builder.AddCode(0x401000, 0x100);
  builder.AddSection(".note.gnu.build-id", SHT_NOTE,
                     symbolizer::MakeNote("GNU", NT_GNU_BUILD_ID, "\x01\x02"));
  WriteText(maps_ + "/1000-2000", builder.Build());
  module_->build_id = "0102";
  module_->SetStamp({0, InodeOf(maps_ + "/1000-2000") + 1, 4, 0});
  EXPECT_EQ(Refusal(), ErrorCode::kUnavailable);
  EXPECT_TRUE(OpenModuleFile(proc_.root(), mapped_, FileUse::kCode));
}

TEST_F(ModuleFileTest, HasTheBuildIdThatWasMapped) {
  using symbolizer::ElfBuilder;
  using symbolizer::MakeNote;
  const auto object = [](const std::string& build_id) {
    ElfBuilder builder;
    builder.AddCode(0x401000, 0x100);
    builder.AddSection(".note.gnu.build-id", SHT_NOTE, MakeNote("GNU", NT_GNU_BUILD_ID, build_id));
    return builder.Build();
  };
  WriteText(proc_.root() + "/by_mapping", object("\x01\x02"));
  std::filesystem::create_symlink(proc_.root() + "/by_mapping", maps_ + "/1000-2000");
  module_->build_id = "0102";
  EXPECT_TRUE(OpenModuleFile(proc_.root(), mapped_));
  module_->build_id = "0103";
  EXPECT_EQ(Refusal(), ErrorCode::kUnavailable);
}

TEST_F(ModuleFileTest, ElseItsPathInTheProcessesRootIfTheInodeIsTheMappedOne) {
  WriteText(lib_ + "/x.so", "four");
  module_->inode = InodeOf(lib_ + "/x.so") + 1;
  EXPECT_EQ(Refusal(), ErrorCode::kNotFound);
  --module_->inode;
  EXPECT_TRUE(OpenModuleFile(proc_.root(), mapped_));
}

TEST_F(ModuleFileTest, ADeviceInItsPlaceIsNotOpened) {
  // Major 1, minor 3 is null, whose open does no harm where this fails; a tape's would.
  if (::mknod((lib_ + "/x.so").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "mknod needs CAP_MKNOD";
  }
  module_->inode = InodeOf(lib_ + "/x.so");
  std::filesystem::create_symlink(lib_ + "/x.so", maps_ + "/1000-2000");
  OpenWatch watch(lib_);
  EXPECT_EQ(Refusal(), ErrorCode::kNotFound);
  EXPECT_FALSE(watch.Opened());
}

}  // namespace
}  // namespace firetower::daemon
