// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<uint8_t> kId = {0xde, 0xad, 0xbe, 0xef, 0x01};

TEST(ModuleRegistry, HasThePlacesThatAreNoFile) {
  ModuleRegistry modules;
  EXPECT_EQ(modules.Get(ModuleRegistry::kUnknown)->kind, ModuleKind::kUnknown);
  EXPECT_EQ(modules.Get(ModuleRegistry::kKernel)->kind, ModuleKind::kKernel);
  EXPECT_EQ(modules.Get(ModuleRegistry::kJit)->kind, ModuleKind::kJit);
  EXPECT_EQ(modules.Get(ModuleRegistry::kVdso)->kind, ModuleKind::kVdso);
  EXPECT_EQ(modules.Get(ModuleRegistry::kPython)->kind, ModuleKind::kPython);
  EXPECT_EQ(modules.size(), ModuleRegistry::kFirstFile);
}

TEST(ModuleRegistry, TakesEqualBuildIdsForOneModuleWhateverThePath) {
  ModuleRegistry modules;
  uint32_t libc = modules.Intern({"/lib/libc.so.6", kId, 0, 0});
  EXPECT_EQ(modules.Intern({"/usr/lib/libc.so.6", kId, 9, 9}), libc);
  EXPECT_EQ(modules.Get(libc)->kind, ModuleKind::kFile);
  EXPECT_EQ(modules.Get(libc)->build_id, "deadbeef01");
  EXPECT_EQ(modules.Get(libc)->BuildId(), "deadbeef01");
  EXPECT_EQ(modules.Get(libc)->cache_key, "b:deadbeef01");
  EXPECT_EQ(modules.size(), ModuleRegistry::kFirstFile + 1);
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
  for (const char* path :
       {"", "//anon", "[heap]", "[stack]", "[stack:12]", "[anon:dalvik-jit]",
        "anon_inode:[perf_event]", "/memfd:doublemapper (deleted)", "/dev/zero (deleted)",
        "/SYSV00000000", "/dev/shm/jit", "/anon_hugepage", "/dev/hugepages/text", "/dmabuf"}) {
    EXPECT_EQ(modules.Intern({path, {}, 0, 5}), ModuleRegistry::kJit) << path;
  }
  EXPECT_EQ(modules.Intern({"[vdso]", {}, 0, 0}), ModuleRegistry::kVdso);
  for (const char* path : {"/home/memfd:x", "/usr/bin/[", "[vsyscall]"}) {
    EXPECT_NE(modules.Intern({path, {}, 0, 5}), ModuleRegistry::kJit) << path;
  }
}

TEST(ModuleRegistry, TakesMemoryFilesForModulesByWhatTheyHold) {
  ModuleRegistry modules;
  for (const char* path : {"/memfd:app", "/dev/shm/app", "/SYSV00000001", "/dev/hugepages/app"}) {
    const uint32_t image = modules.Intern({path, {}, 1, 7, true});
    EXPECT_EQ(modules.Get(image)->kind, ModuleKind::kFile) << path;
    EXPECT_EQ(modules.Get(image)->path, path);
    EXPECT_EQ(modules.Get(modules.Intern({path, kId, 0, 0}))->kind, ModuleKind::kFile) << path;
    EXPECT_EQ(modules.Intern({path, {}, 1, 7}), ModuleRegistry::kJit) << "unless it is known";
  }
}

FileStamp Stamp(uint64_t inode) { return {8, inode, 1000, 1}; }

TEST(ModuleRegistry, TellsFilesOfOneBuildIdByTheirStamps) {
  ModuleRegistry modules;
  const uint32_t app = modules.Intern({"/app", kId, 0, 0});
  EXPECT_EQ(modules.OfFile(app, Stamp(1), "/app"), app) << "the first";
  const uint32_t other = modules.OfFile(app, Stamp(2), "/other");
  ASSERT_NE(other, app);
  EXPECT_EQ(modules.OfFile(app, Stamp(2), "/other"), other);
  EXPECT_EQ(modules.OfFile(app, Stamp(1), "/app"), app);
  EXPECT_EQ(modules.Get(other)->kind, ModuleKind::kFile);
  EXPECT_EQ(modules.Get(other)->path, "/other");
  EXPECT_EQ(modules.Get(other)->build_id, "deadbeef01");
  EXPECT_NE(modules.Get(other)->cache_key, modules.Get(app)->cache_key);
  EXPECT_EQ(modules.Intern({"/other", kId, 0, 0}), app) << "mappings share the unwind table";
  const uint32_t bare = modules.Intern({"/bare", {}, 1, 7});
  EXPECT_EQ(modules.OfFile(bare, Stamp(3), "/bare"), bare);
  EXPECT_EQ(modules.OfFile(ModuleRegistry::kJit, Stamp(3), "/bare"), ModuleRegistry::kJit);
}

TEST(ModuleRegistry, NamesAnUnseenFileOnlyByTheOneThatItMustBe) {
  ModuleRegistry modules;
  const uint32_t app = modules.Intern({"/app", kId, 0, 0});
  EXPECT_EQ(modules.OfUnseenFile(app, PathHash("/any")), app) << "the only one";
  modules.OfFile(app, Stamp(1), "/app");
  const uint32_t other = modules.OfFile(app, Stamp(2), "/other");
  EXPECT_EQ(modules.OfUnseenFile(app, PathHash("/app")), app);
  EXPECT_EQ(modules.OfUnseenFile(app, PathHash("/other")), other);
  const uint32_t unseen = modules.OfUnseenFile(app, PathHash("/third"));
  EXPECT_NE(unseen, app);
  EXPECT_NE(unseen, other);
  EXPECT_EQ(modules.Get(unseen)->symbols, Module::kFailed) << "there is no file to read";
  modules.OfFile(app, Stamp(3), "/other");
  EXPECT_EQ(modules.OfUnseenFile(app, PathHash("/other")), unseen) << "two are there";
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

std::vector<uint32_t> IdsOf(ModuleRegistry& modules) {
  std::vector<NumberedModule> news;
  modules.TakeNew(news);
  std::vector<uint32_t> ids;
  for (const NumberedModule& numbered : news) ids.push_back(numbered.id);
  return ids;
}

TEST(ModuleRegistry, TellsWhatIsNewOnce) {
  ModuleRegistry modules;
  uint32_t app = modules.Intern({"/app", {}, 1, 7});
  EXPECT_THAT(IdsOf(modules), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, app));
  modules.Intern({"/app", {}, 1, 7});
  EXPECT_THAT(IdsOf(modules), IsEmpty());
}

constexpr int64_t kForgetNs = 100;

TEST(ModuleRegistry, GivesTheIdOfAForgottenFileToAnother) {
  ModuleRegistry modules(kForgetNs);
  uint32_t app = modules.Intern({"/app", {}, 1, 7});
  uint32_t lib = modules.Intern({"/lib", {}, 1, 8});
  IdsOf(modules);
  std::vector<bool> mapped(modules.size(), false);
  mapped[lib] = true;
  EXPECT_THAT(modules.Forget(mapped, 1000), IsEmpty());
  EXPECT_THAT(modules.Forget(mapped, 1000 + kForgetNs - 1), IsEmpty());
  EXPECT_THAT(modules.Forget(mapped, 1000 + kForgetNs), ElementsAre(app));
  EXPECT_THAT(modules.Forget(mapped, 1000 + 9 * kForgetNs), IsEmpty()) << "once";
  EXPECT_EQ(modules.Intern({"/lib", {}, 1, 8}), lib);
  EXPECT_EQ(modules.Intern({"/new", {}, 1, 9}), app);
  EXPECT_EQ(modules.Get(app)->path, "/new");
  EXPECT_THAT(IdsOf(modules), ElementsAre(app)) << "told again, for it stands for something else";
  uint32_t again = modules.Intern({"/app", {}, 1, 7});
  EXPECT_NE(again, app);
  EXPECT_EQ(modules.Get(again)->path, "/app");
}

TEST(ModuleRegistry, AFileMappedAgainIsNotForgotten) {
  ModuleRegistry modules(kForgetNs);
  uint32_t app = modules.Intern({"/app", {}, 1, 7});
  std::vector<bool> none(modules.size(), false);
  std::vector<bool> all(modules.size(), true);
  modules.Forget(none, 1000);
  modules.Forget(all, 1050);
  EXPECT_THAT(modules.Forget(none, 1000 + kForgetNs), IsEmpty()) << "its time begins anew";
  EXPECT_THAT(modules.Forget(none, 1000 + 2 * kForgetNs), ElementsAre(app));
}

TEST(ModuleRegistry, ForgetsFilesOfOneBuildIdOneByOne) {
  ModuleRegistry modules(kForgetNs);
  const uint32_t app = modules.Intern({"/app", kId, 0, 0});
  modules.OfFile(app, Stamp(1), "/app");
  const uint32_t other = modules.OfFile(app, Stamp(2), "/app");
  std::vector<bool> mapped(modules.size(), false);
  mapped[app] = true;
  modules.Forget(mapped, 1000);
  EXPECT_THAT(modules.Forget(mapped, 1000 + kForgetNs), ElementsAre(other));
  EXPECT_EQ(modules.OfUnseenFile(app, PathHash("/any")), app) << "the only one again";
  EXPECT_EQ(modules.Intern({"/new", {}, 1, 9}), other);
  EXPECT_NE(modules.OfFile(app, Stamp(2), "/app"), other) << "that is /new";
}

// A program that runs for milliseconds, again and again: no look ever finds it mapped.
TEST(ModuleRegistry, AFileMappedBetweenLooksIsNotForgotten) {
  ModuleRegistry modules(kForgetNs);
  const uint32_t app = modules.Intern({"/app", {}, 1, 7});
  const std::vector<bool> none(modules.size(), false);
  int64_t now_ns = 1000;
  for (int i = 0; i < 5; ++i, now_ns += kForgetNs) {
    EXPECT_THAT(modules.Forget(none, now_ns), IsEmpty());
    EXPECT_EQ(modules.Intern({"/app", {}, 1, 7}), app);
  }
  EXPECT_THAT(modules.Forget(none, now_ns), IsEmpty());
  EXPECT_THAT(modules.Forget(none, now_ns + kForgetNs), ElementsAre(app));
}

TEST(ModuleRegistry, TheIdsOfForgottenFilesMakeRoomAtTheCap) {
  ModuleRegistry modules(kForgetNs);
  while (modules.size() < ModuleRegistry::kMaxModules) {
    modules.Intern({"/f", {}, 1, modules.size() + 1});
  }
  std::vector<bool> none(modules.size(), false);
  modules.Forget(none, 1000);
  size_t forgotten = modules.Forget(none, 1000 + kForgetNs).size();
  EXPECT_EQ(forgotten, ModuleRegistry::kMaxModules - ModuleRegistry::kFirstFile)
      << "the places that are no file stay";
  EXPECT_NE(modules.Intern({"/g", {}, 1, 1}), ModuleRegistry::kUnknown);
  EXPECT_EQ(modules.Intern({"[vdso]", {}, 0, 0}), ModuleRegistry::kVdso);
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
