// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/symbol_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/fake_proc.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::WriteText;
using symbolizer::ElfBuilder;
using symbolizer::SymbolCache;

constexpr int kLongMs = 60'000;  // the thread answers in microseconds

// A program of one function at the first byte of its code.
std::string Program(const std::string& function, const std::string& build_id) {
  ElfBuilder builder;
  builder.AddCode(0x401000, 0x100);
  builder.AddSymbols(SHT_SYMTAB, {{function, 0x401000, 0x100}});
  if (!build_id.empty()) {
    builder.AddSection(".note.gnu.build-id", SHT_NOTE,
                       symbolizer::MakeNote("GNU", NT_GNU_BUILD_ID, build_id));
  }
  return builder.Build();
}

class SymbolLoaderTest : public ::testing::Test {
 protected:
  ~SymbolLoaderTest() override { loader_.Stop(); }

  std::shared_ptr<Module> MakeModule(const std::string& path, const std::string& build_id,
                                     uint64_t inode = 0) {
    auto module = std::make_shared<Module>();
    module->kind = ModuleKind::kFile;
    module->path = path;
    module->build_id = build_id;
    module->cache_key = "key of " + path;
    module->inode = inode;
    return module;
  }
  void Want(const std::shared_ptr<Module>& module, uint32_t pid = 7, uint32_t parent = 0) {
    Process process;
    process.pid = pid;
    process.parent = parent;
    loader_.Want(module, process, {0x10000, 0x20000, 0, 4});
  }
  void WantAndWait(const std::shared_ptr<Module>& module, uint32_t pid = 7, uint32_t parent = 0) {
    Want(module, pid, parent);
    loader_.WaitIdle(kLongMs);
  }
  // The function at the start of the module's code, "" if its symbols are not there.
  std::string FunctionOf(const Module& module) {
    SymbolCache::Found found = cache_.Find(module.SymbolsKey());
    if (!found.table) return "";
    auto symbol = found.table->Find(ElfBuilder::kCodeFileOffset);
    return symbol ? std::string(symbol->name) : "";
  }
  // Returns the inode of the mapped file.
  uint64_t WriteMapped(uint32_t pid, const std::string& bytes) {
    const std::string path = proc_.Of(pid) + "/map_files/10000-20000";
    WriteText(path, bytes);
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
  }
  std::string InRoot(uint32_t pid, const std::string& path) {
    return proc_.Of(pid) + "/root" + path;
  }

  FakeProc proc_;
  SymbolCache cache_;
  SymbolLoader loader_{proc_.root(), cache_};
};

TEST_F(SymbolLoaderTest, ReadsADeletedFileThroughItsMapping) {
  WriteMapped(7, Program("in_the_mapping", "\x01\x02"));
  WriteText(InRoot(7, "/bin/app"), Program("put_in_its_place", "\x01\x02"));
  loader_.Start();
  auto module = MakeModule("/bin/app", "0102");
  WantAndWait(module);
  EXPECT_EQ(FunctionOf(*module), "in_the_mapping");
  EXPECT_EQ(module->symbols, Module::kLoaded);
  EXPECT_EQ(loader_.loaded(), 1u);
  EXPECT_EQ(loader_.failed(), 0u);
}

TEST_F(SymbolLoaderTest, ReadsAFileWhereItsProcessSeesIt) {
  WriteText(InRoot(7, "/bin/app"), Program("inside", "\x01\x02"));
  loader_.Start();
  auto module = MakeModule("/bin/app", "0102");
  WantAndWait(module);
  EXPECT_EQ(FunctionOf(*module), "inside");
}

TEST_F(SymbolLoaderTest, RefusesAnotherFileInItsPlace) {
  WriteText(InRoot(7, "/bin/app"), Program("replaced", "\x03\x04"));
  WriteText(InRoot(7, "/bin/bare"), Program("without_id", ""));
  loader_.Start();
  for (const char* path : {"/bin/app", "/bin/bare"}) {
    auto module = MakeModule(path, "0102");
    WantAndWait(module);
    EXPECT_EQ(FunctionOf(*module), "") << path;
    EXPECT_EQ(module->symbols, Module::kWanted) << "another process may still have it";
  }
}

TEST_F(SymbolLoaderTest, TellsFilesWithoutABuildIdByInode) {
  std::string path = InRoot(7, "/bin/app");
  WriteText(path, Program("inside", ""));
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  loader_.Start();
  auto other = MakeModule("/bin/app", "", info.st_ino + 1);
  WantAndWait(other);
  EXPECT_EQ(FunctionOf(*other), "");
  auto module = MakeModule("/bin/app", "", info.st_ino);
  WantAndWait(module);
  EXPECT_EQ(FunctionOf(*module), "inside");
}

TEST_F(SymbolLoaderTest, LooksIntoTheRootsOfAncestors) {
  // Process 7 is gone, its parent 8 as well; 9 has the same root and is named by 8's status.
  proc_.SetProcess(8, "sh", 9, 1, "");
  WriteText(InRoot(9, "/bin/app"), Program("of_the_family", "\x01\x02"));
  loader_.Start();
  auto module = MakeModule("/bin/app", "0102");
  WantAndWait(module, 7, 8);
  EXPECT_EQ(FunctionOf(*module), "of_the_family");
}

TEST_F(SymbolLoaderTest, FollowsNoLinkOutOfTheRoot) {
  ScratchFolder outside;
  WriteText(outside.path() + "/secret", Program("outside", "\x01\x02"));
  std::filesystem::create_directories(InRoot(7, "/bin"));
  std::filesystem::create_symlink(outside.path() + "/secret", InRoot(7, "/bin/absolute"));
  std::filesystem::create_symlink("../../../../../../../.." + outside.path() + "/secret",
                                  InRoot(7, "/bin/relative"));
  loader_.Start();
  for (const char* path : {"/bin/absolute", "/bin/relative"}) {
    auto module = MakeModule(path, "0102");
    WantAndWait(module);
    EXPECT_EQ(FunctionOf(*module), "") << path;
  }
}

TEST_F(SymbolLoaderTest, NamesAStrippedFileByItsDebugFile) {
  ElfBuilder stripped;
  stripped.AddCode(0x401000, 0x100);
  stripped.AddSection(".note.gnu.build-id", SHT_NOTE,
                      symbolizer::MakeNote("GNU", NT_GNU_BUILD_ID, "\x01\x02\x03"));
  WriteMapped(7, stripped.Build());
  WriteText(InRoot(7, "/usr/lib/debug/.build-id/01/0203.debug"), Program("kept", "\x01\x02\x03"));
  loader_.Start();
  auto module = MakeModule("/bin/app", "010203");
  WantAndWait(module);
  EXPECT_EQ(FunctionOf(*module), "kept");
}

// The linker leaves the symbol table out of the build id, and strip(1) keeps it.
TEST_F(SymbolLoaderTest, KeepsTheNamesOfFilesWithOneBuildIdApart) {
  WriteMapped(7, Program("one", "\x01\x02"));
  WriteMapped(8, Program("two", "\x01\x02"));
  loader_.Start();
  auto one = MakeModule("/bin/app", "0102");
  auto two = MakeModule("/bin/app", "0102");
  two->cache_key += " too";
  WantAndWait(one, 7);
  WantAndWait(two, 8);
  EXPECT_EQ(FunctionOf(*one), "one");
  EXPECT_EQ(FunctionOf(*two), "two");
  EXPECT_EQ(loader_.loaded(), 2u);
  EXPECT_EQ(one->own_names, 1u);
  EXPECT_NE(one->names_hash, two->names_hash);
}

TEST_F(SymbolLoaderTest, SharesTheNamesOfCopiesOfOneFile) {
  loader_.Start();
  std::vector<std::shared_ptr<Module>> copies;
  for (uint32_t i = 0; i < 5; ++i) {
    copies.push_back(MakeModule("/bin/app", "0102"));
    copies.back()->cache_key += std::to_string(i);
    WriteMapped(10 + i, Program("same", "\x01\x02"));
    WantAndWait(copies.back(), 10 + i);
    EXPECT_EQ(FunctionOf(*copies.back()), "same");
    EXPECT_EQ(copies.back()->own_names, 1u);
  }
  EXPECT_EQ(loader_.loaded(), 1u);
  EXPECT_EQ(loader_.shared(), 4u);
  EXPECT_EQ(cache_.counters().tables, 1u);
}

// Stripped Go programs have equal symbol tables, none, and names all the same.
TEST_F(SymbolLoaderTest, SharesNothingWithoutABuildId) {
  const uint64_t first = WriteMapped(7, Program("same", ""));
  const uint64_t second = WriteMapped(8, Program("same", ""));
  loader_.Start();
  auto one = MakeModule("/bin/one", "", first);
  auto two = MakeModule("/bin/two", "", second);
  WantAndWait(one, 7);
  WantAndWait(two, 8);
  EXPECT_EQ(loader_.loaded(), 2u);
  EXPECT_NE(one->SymbolsKey(), two->SymbolsKey());
}

TEST_F(SymbolLoaderTest, TakesNoNamesOfAnotherFileWithTheBuildId) {
  const uint64_t inode = WriteMapped(7, Program("another", "\x01\x02"));
  WriteText(InRoot(7, "/bin/app"), Program("another", "\x01\x02"));
  loader_.Start();
  auto module = MakeModule("/bin/app", "0102");
  module->SetStamp({0, ~inode, 17, 18});  // inode + 1 may well be that of the second file
  WantAndWait(module);
  EXPECT_EQ(FunctionOf(*module), "");
  EXPECT_EQ(module->symbols, Module::kWanted) << "another process may still have it";
}

TEST_F(SymbolLoaderTest, AStrippedFileHasNoNamesOfItsOwn) {
  ElfBuilder stripped;
  stripped.AddCode(0x401000, 0x100);
  stripped.AddSymbols(SHT_DYNSYM, {{"exported", 0x401000, 0x10}});
  stripped.AddSection(".note.gnu.build-id", SHT_NOTE,
                      symbolizer::MakeNote("GNU", NT_GNU_BUILD_ID, "\x01\x02"));
  WriteMapped(7, stripped.Build());
  loader_.Start();
  auto module = MakeModule("/bin/app", "0102");
  WantAndWait(module);
  EXPECT_EQ(FunctionOf(*module), "exported");
  EXPECT_EQ(module->own_names, 0u);
}

TEST_F(SymbolLoaderTest, TellsTheBuildIdItFound) {
  const uint64_t inode = WriteMapped(7, Program("f", "\xab\xcd"));
  loader_.Start();
  auto module = MakeModule("/bin/app", "", inode);
  WantAndWait(module);
  EXPECT_EQ(module->BuildId(), "abcd");
}

// Its process is another program by now: that says nothing of the file, and gives it no names.
TEST_F(SymbolLoaderTest, WaitsForAProcessThatStillMapsTheFile) {
  proc_.SetProcess(7, "other", 1, 1, "");
  WriteMapped(7, Program("of_the_other", "\x03\x04"));
  WriteMapped(8, Program("its_own", "\x01\x02"));
  loader_.Start();
  auto module = MakeModule("/bin/app", "0102");
  for (int i = 0; i <= SymbolLoader::kMaxFailures; ++i) {
    WantAndWait(module);
    EXPECT_EQ(module->symbols, Module::kWanted) << i;
  }
  WantAndWait(module, 8);
  EXPECT_EQ(FunctionOf(*module), "its_own");
  EXPECT_EQ(loader_.failed(), 0u);
}

TEST_F(SymbolLoaderTest, GivesUpAfterItsNumberOfFailures) {
  proc_.SetProcess(7, "app", 1, 1, "00001000-00002000 r-xp 00000000 08:01 5 /bin/gone\n");
  loader_.Start();
  auto module = MakeModule("/bin/gone", "0102");
  for (int i = 1; i < SymbolLoader::kMaxFailures; ++i) {
    WantAndWait(module);
    EXPECT_EQ(module->symbols, Module::kWanted) << i;
    EXPECT_EQ(loader_.failed(), 0u);
  }
  WantAndWait(module);
  EXPECT_EQ(module->symbols, Module::kFailed);
  EXPECT_EQ(module->unread, Unread::kNotFound);
  EXPECT_EQ(loader_.failed(), 1u);
  EXPECT_EQ(loader_.loaded(), 0u);
}

// In a storm of short processes many end before their libraries are read.
TEST_F(SymbolLoaderTest, ProcessesThatEndTooEarlySayNothingOfTheirFiles) {
  loader_.Start();
  auto module = MakeModule("/lib/shared.so", "0102");
  for (uint32_t pid = 20; pid < 20 + 2 * SymbolLoader::kMaxFailures; ++pid) {
    WantAndWait(module, pid);
    EXPECT_EQ(module->symbols, Module::kWanted);
  }
  EXPECT_EQ(loader_.failed(), 0u);
  EXPECT_EQ(module->unread, Unread::kGone);
  WriteMapped(8, Program("shared", "\x01\x02"));
  WantAndWait(module, 8);
  EXPECT_EQ(module->unread, Unread::kNot);
  EXPECT_EQ(FunctionOf(*module), "shared");
}

TEST_F(SymbolLoaderTest, FindsAFileThatAnotherProcessStillHas) {
  loader_.Start();
  auto module = MakeModule("/bin/app", "0102");
  WantAndWait(module, 7);
  ASSERT_EQ(module->symbols, Module::kWanted);
  WriteMapped(8, Program("still_here", "\x01\x02"));
  WantAndWait(module, 8);
  EXPECT_EQ(FunctionOf(*module), "still_here");
}

TEST_F(SymbolLoaderTest, RemembersAFileWithoutSymbols) {
  const uint64_t inode = WriteMapped(7, "#!/bin/sh\necho mapped executable, no ELF file\n");
  loader_.Start();
  auto module = MakeModule("/opt/script", "", inode);
  WantAndWait(module);
  EXPECT_EQ(module->symbols, Module::kLoaded);
  EXPECT_EQ(module->unread, Unread::kNotElf);
  EXPECT_EQ(cache_.Find(module->cache_key).state, SymbolCache::State::kNegative);
  EXPECT_EQ(loader_.failed(), 1u);
}

TEST_F(SymbolLoaderTest, SurvivesAFullQueue) {
  std::vector<std::shared_ptr<Module>> modules;
  for (size_t i = 0; i <= SymbolLoader::kMaxRequests; ++i) {
    modules.push_back(MakeModule("/bin/gone" + std::to_string(i), "0102"));
    Want(modules.back());  // The thread is not there yet.
  }
  EXPECT_EQ(modules.front()->symbols, Module::kAsked);
  EXPECT_EQ(modules.back()->symbols, Module::kWanted) << "asks again with its next stack";
  WriteMapped(7, Program("f", "\x01\x02"));
  loader_.Start();
  loader_.WaitIdle(kLongMs);
  EXPECT_EQ(loader_.loaded() + loader_.shared(), SymbolLoader::kMaxRequests);
  WantAndWait(modules.back());
  EXPECT_EQ(modules.back()->symbols, Module::kLoaded);
}

TEST_F(SymbolLoaderTest, WaitsNoLongerThanItIsTold) {
  Want(MakeModule("/bin/app", "0102"));  // Nobody takes it.
  loader_.WaitIdle(1);
}

TEST_F(SymbolLoaderTest, NamesTheKernel) {
  // proc_kallsyms: address, type, name, module.
  WriteText(proc_.root() + "/kallsyms",
            "ffffffff81000000 T _stext\n"
            "ffffffff81000100 T do_syscall_64\n"
            "ffffffff81000200 t helper\n"
            "ffffffff81000300 T _etext\n");
  loader_.Start();
  EXPECT_EQ(loader_.Kernel(), nullptr);  // nobody has asked
  EXPECT_TRUE(loader_.WantKernel());
  EXPECT_FALSE(loader_.WantKernel());
  loader_.WaitIdle(60'000);
  auto kernel = loader_.Kernel();
  ASSERT_NE(kernel, nullptr);
  auto symbol = kernel->Find(0xffffffff81000150);
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->name, "do_syscall_64");
  EXPECT_EQ(symbol->offset, 0x50u);
}

TEST_F(SymbolLoaderTest, ReadsTheKernelsSymbolsBeforeFilesThatWait) {
  const std::string kallsyms = proc_.root() + "/kallsyms";
  ASSERT_EQ(::mkfifo(kallsyms.c_str(), 0600), 0);
  WriteText(InRoot(7, "/bin/app"), Program("waits", "\x01\x02"));
  Want(MakeModule("/bin/app", "0102"));
  EXPECT_TRUE(loader_.WantKernel());
  loader_.Start();
  std::ofstream pipe(kallsyms);  // opens when the loader reads its other end
  EXPECT_EQ(loader_.loaded(), 0u);
  EXPECT_EQ(loader_.Kernel(), nullptr);
  loader_.WaitKernel(1);
  EXPECT_EQ(loader_.Kernel(), nullptr);
  pipe << "ffffffff81000000 T _stext\nffffffff81000300 T _etext\n" << std::flush;
  pipe.close();
  loader_.WaitKernel(kLongMs);
  EXPECT_NE(loader_.Kernel(), nullptr);
  loader_.WaitIdle(kLongMs);
  EXPECT_EQ(loader_.loaded(), 1u);
}

TEST_F(SymbolLoaderTest, WorksWithoutTheKernelsSymbols) {
  loader_.Start();
  EXPECT_TRUE(loader_.WantKernel());
  loader_.WaitIdle(60'000);
  EXPECT_EQ(loader_.Kernel(), nullptr);
}

}  // namespace
}  // namespace firetower::daemon
