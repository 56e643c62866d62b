// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/module.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

const std::vector<uint8_t> kId = {0xde, 0xad, 0xbe, 0xef, 0x01};

TEST(ModuleRegistry, HasThePlacesThatAreNoFile) {
  ModuleRegistry modules;
  EXPECT_EQ(modules.Get(ModuleRegistry::kUnknown)->kind, ModuleKind::kUnknown);
  EXPECT_EQ(modules.Get(ModuleRegistry::kKernel)->kind, ModuleKind::kKernel);
  EXPECT_EQ(modules.Get(ModuleRegistry::kJit)->kind, ModuleKind::kJit);
  EXPECT_EQ(modules.Get(ModuleRegistry::kVdso)->kind, ModuleKind::kVdso);
  EXPECT_EQ(modules.size(), 4u);
}

TEST(ModuleRegistry, TakesEqualBuildIdsForOneModuleWhateverThePath) {
  ModuleRegistry modules;
  uint32_t libc = modules.Intern({"/lib/libc.so.6", kId, 0, 0});
  EXPECT_EQ(modules.Intern({"/usr/lib/libc.so.6", kId, 9, 9}), libc);
  EXPECT_EQ(modules.Get(libc)->kind, ModuleKind::kFile);
  EXPECT_EQ(modules.Get(libc)->build_id, "deadbeef01");
  EXPECT_EQ(modules.Get(libc)->BuildId(), "deadbeef01");
  EXPECT_EQ(modules.Get(libc)->cache_key, "b:deadbeef01");
  EXPECT_EQ(modules.size(), 5u);
}

TEST(ModuleRegistry, TellsFilesWithoutBuildIdByDeviceInodeAndPath) {
  ModuleRegistry modules;
  uint32_t app = modules.Intern({"/app", {}, 1, 7});
  EXPECT_EQ(modules.Intern({"/app", {}, 1, 7}), app);
  EXPECT_NE(modules.Intern({"/app", {}, 2, 7}), app);
  EXPECT_NE(modules.Intern({"/app", {}, 1, 8}), app);
  EXPECT_NE(modules.Intern({"/app2", {}, 1, 7}), app);
  EXPECT_NE(modules.Intern({"/app", kId, 1, 7}), app);
  EXPECT_EQ(modules.Get(app)->inode, 7u);
  EXPECT_EQ(modules.Get(app)->BuildId(), "");
}

TEST(ModuleRegistry, KnowsMemoryThatIsNoFileOfCode) {
  ModuleRegistry modules;
  for (const char* path : {"", "//anon", "[heap]", "[stack]", "[stack:12]", "[anon:dalvik-jit]",
                           "anon_inode:[perf_event]", "/memfd:doublemapper (deleted)",
                           "/dev/zero (deleted)", "/SYSV00000000", "/dev/shm/jit"}) {
    EXPECT_EQ(modules.Intern({path, {}, 0, 5}), ModuleRegistry::kJit) << path;
  }
  EXPECT_EQ(modules.Intern({"[vdso]", {}, 0, 0}), ModuleRegistry::kVdso);
  for (const char* path : {"/home/memfd:x", "/usr/bin/[", "[vsyscall]"}) {
    EXPECT_NE(modules.Intern({path, {}, 0, 5}), ModuleRegistry::kJit) << path;
  }
}

TEST(ModuleRegistry, StopsAtItsCap) {
  ModuleRegistry modules;
  size_t free = ModuleRegistry::kMaxModules - modules.size();
  for (size_t i = 0; i < free; ++i) {
    ASSERT_NE(modules.Intern({"/f", {}, 1, i + 1}), ModuleRegistry::kUnknown);
  }
  EXPECT_EQ(modules.size(), ModuleRegistry::kMaxModules);
  EXPECT_EQ(modules.Intern({"/f", {}, 2, 1}), ModuleRegistry::kUnknown);
  EXPECT_EQ(modules.Intern({"/f", kId, 0, 0}), ModuleRegistry::kUnknown);
  EXPECT_EQ(modules.refused(), 2u);
  EXPECT_NE(modules.Intern({"/f", {}, 1, 1}), ModuleRegistry::kUnknown) << "known before";
  EXPECT_EQ(modules.size(), ModuleRegistry::kMaxModules);
}

TEST(Module, TakesTheFirstBuildIdFoundInTheFile) {
  Module module;
  EXPECT_EQ(module.BuildId(), "");
  module.SetFoundBuildId("abcd");
  module.SetFoundBuildId("ef01");
  EXPECT_EQ(module.BuildId(), "abcd");
}

}  // namespace
}  // namespace firetower::daemon
